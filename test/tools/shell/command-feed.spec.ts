import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { BashDialect } from '../../../src/tools/shell/bash-dialect.js';
import { CommandFeed } from '../../../src/tools/shell/command-feed.js';

describe('CommandFeed', () => {
  let directory: string;
  let feed: CommandFeed;
  const dialect = new BashDialect();
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'feed-test-'));
    const path = join(directory, dialect.scriptName);
    execFileSync('mkfifo', [path]);
    feed = new CommandFeed(path);
  });
  afterEach(() => {
    feed.close();
    rmSync(directory, { recursive: true });
  });

  it('ends a shell that had not begun to read when the runtime went', async () => {
    feed.write(dialect.prelude(directory));
    const late = `until [ -e go ]; do sleep 0.01; done; exec ${[dialect.file, ...dialect.args, dialect.scriptName].join(' ')}`;
    const shell = feed.lend((stdin) =>
      spawn('/bin/sh', ['-c', late], { cwd: directory, stdio: [stdin, 'ignore', 'ignore'] }),
    );
    feed.close();
    writeFileSync(join(directory, 'go'), '');
    expect(await once(shell, 'exit')).to.deep.equal([0, null]);
  });

  it('tells whether all was read, and takes nothing away', async () => {
    expect(feed.hasBeenRead()).to.equal(true);
    const text = `read -r x\n#${'long'.repeat(2000)}\nexit 7\n`;
    feed.write(text);
    expect(feed.hasBeenRead()).to.equal(false);
    expect(feed.hasBeenRead()).to.equal(false);
    const shell = spawn(dialect.file, [dialect.scriptName], { cwd: directory, stdio: 'ignore' });
    const exit = once(shell, 'exit');
    // Looked at all the time while it reads.
    let isRunning = true;
    void exit.then(() => {
      isRunning = false;
    });
    while (isRunning) {
      feed.hasBeenRead();
      await new Promise(setImmediate);
    }
    expect(await exit).to.deep.equal([7, null]);
  });

  it('is closed once', () => {
    feed.close();
    feed.close();
  });
});
