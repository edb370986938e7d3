import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { processesWith, until } from '../../support/process-table.js';
import { ShellScope } from '../../support/shell-scope.js';

const HOLDER = fileURLToPath(new URL('shell-holder.js', import.meta.url));

describe('shells of a runtime that exits without closing', () => {
  let temporary: string;
  let sessionId: string;
  let holder: ChildProcess;

  before(() => {
    temporary = mkdtempSync(join(tmpdir(), 'holder-test-'));
  });
  beforeEach(() => {
    sessionId = `s-${randomUUID()}`;
  });
  afterEach(() => {
    holder?.kill('SIGKILL');
    for (const pid of processes()) process.kill(pid, 'SIGKILL');
  });
  after(() => rmSync(temporary, { recursive: true, force: true }));

  const processes = (): readonly number[] => processesWith(`DSH_SESSION_ID=${sessionId}\0`);

  async function start(command: string, count: number): Promise<void> {
    const env = { ...process.env, TMPDIR: temporary };
    holder = spawn(process.execPath, [HOLDER, sessionId, command], { env, stdio: ['pipe', 'ignore', 'inherit'] });
    await until(() => processes().length >= count);
  }

  const commands: readonly (readonly [string, string, number])[] = [
    ['an idle shell', 'true', 1],
    ['what runs and ignores SIGTERM', 'trap "" TERM; sleep 600', 2],
    ['other process groups', 'set -m; sleep 600 & timeout 600 sleep 601', 4],
  ];
  for (const [title, command, count] of commands) {
    it(`are killed with it: ${title}`, async () => {
      await start(command, count);
      holder.stdin?.write('\n');
      const [code] = await once(holder, 'exit');
      expect(code).to.equal(3);
      await until(() => processes().length === 0);
    });
  }

  it('end by themselves when it was killed', async () => {
    await start('true', 1);
    holder.kill('SIGKILL');
    await until(() => processes().length === 0);
  });

  it('are watched as long as there are any', async () => {
    const watchers = (): number => process.listenerCount('exit');
    const before = watchers();
    const [first, second] = [await ShellScope.open(), await ShellScope.open()];
    await first.run('true');
    await second.run('exit');
    expect(watchers()).to.be.greaterThan(before);
    await second.run('true');
    // In reverse: each puts back the temporary directory that it found.
    await second.close();
    await first.close();
    expect(watchers()).to.equal(before);
  });
});
