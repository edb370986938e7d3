import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import sinon from 'sinon';
import { SessionHold } from '../../../src/agent/index.js';
import type { ToolOutcome } from '../../../src/tool/index.js';
import { PersistentShell } from '../../../src/tools/shell/index.js';
import { openFiles, until } from '../../support/process-table.js';
import { ShellScope } from '../../support/shell-scope.js';
import { waitsOf } from '../../support/timer-watch.js';
import { textOf } from '../../support/tool-scope.js';

/** How often, in milliseconds, it may look whether a process has ended. */
const POLL_MS = 5;
const IGNORES_TERM = `bash -c 'trap "" TERM; (trap "" TERM; sleep 600) & wait'`;

describe('lifetime of the persistent shell', () => {
  let shell: ShellScope;
  let filesBefore: readonly string[];

  async function open(config: object = {}): Promise<void> {
    filesBefore = openFiles();
    shell = await ShellScope.open(config);
  }
  /** Nothing is left of it: no process, descriptor, file or handle. It waited for what ended, never for time (J5). */
  async function closeAndCheck(): Promise<void> {
    const waits = await waitsOf(() => shell.tools.close());
    expect(waits.filter((ms) => ms > POLL_MS)).to.deep.equal([]);
    expect(shell.processes()).to.deep.equal([]);
    expect(shell.leftovers()).to.deep.equal([]);
    await until(() => openFiles().length <= filesBefore.length);
  }
  afterEach(() => shell.close());

  /** Runs a command; fulfils once it is at it. */
  async function start(command: string, signal?: AbortSignal): Promise<{ readonly outcome: Promise<ToolOutcome> }> {
    const mark = join(shell.workspace, 'running');
    const outcome = shell.tools.call('bash', { command: `touch ${mark}; ${command}` }, signal);
    await until(() => existsSync(mark));
    return { outcome };
  }

  describe('start', () => {
    it('waits for the first command', async () => {
      await open();
      expect(shell.processes()).to.deep.equal([]);
      expect(shell.leftovers()).to.deep.equal([]);
      await closeAndCheck();
    });

    it('holds its session from then on, until it ends', async () => {
      await open();
      const held = () => shell.tools.scope.all(SessionHold).map((hold) => hold.holds());
      expect(held()).to.deep.equal([false]);
      await shell.run('true');
      expect(held()).to.deep.equal([true]);
      await shell.tools.call('bash', { command: 'exit 3' });
      expect(held()).to.deep.equal([false]);
      await shell.run('(sleep 0.01; kill -9 $$) &');
      expect(held()).to.deep.equal([true]);
      await until(() => held()[0] === false);
      await closeAndCheck();
    });

    it('fails clearly without the workspace, and works once it is there', async () => {
      await open();
      const { workspace } = shell;
      rmSync(workspace, { recursive: true });
      const outcome = await shell.tools.call('bash', { command: 'echo a' });
      expect(outcome.error).to.deep.equal({ name: 'ShellError', code: 'SHELL_NOT_STARTED' });
      expect(textOf(outcome)).to.equal(
        `Error: the shell cannot be started: ${workspace}: the workspace directory does not exist`,
      );
      writeFileSync(workspace, 'a file');
      expect(textOf(await shell.tools.call('bash', { command: 'echo a' }))).to.match(
        /^Error: the shell cannot be started/,
      );
      rmSync(workspace);
      mkdirSync(workspace);
      expect(await shell.run('pwd')).to.equal(workspace);
      await closeAndCheck();
    });

    it('fails clearly without a place for its pipes', async () => {
      await open();
      sinon.stub(process.env, 'TMPDIR').value(join(shell.temporary, 'missing'));
      const outcome = await shell.tools.call('bash', { command: 'echo a' });
      expect(textOf(outcome)).to.match(/^Error: the shell cannot be started: its pipes: ENOENT/);
      sinon.restore();
      expect(await shell.run('echo a')).to.equal('a');
      await closeAndCheck();
    });
  });

  describe('timeout', () => {
    it('gives what was written until then and resets the shell', async () => {
      await open({ timeoutMs: 500 });
      await shell.run('true');
      const text = await shell.run('cd /; echo partial; sleep 600; echo unreached');
      expect(text).to.equal(
        [
          'The command did not end within 1 second and was stopped. Its output until then:',
          'partial',
          `[the shell was reset: the next command starts a fresh one in ${shell.workspace}]`,
        ].join('\n'),
      );
      expect(shell.processes()).to.deep.equal([]);
      expect(await shell.run('pwd')).to.equal(shell.workspace);
      await closeAndCheck();
    });

    const trees: readonly (readonly [string, string])[] = [
      ['that ignores SIGTERM (C1)', IGNORES_TERM],
      ['with a pipeline (C2)', 'yes | grep -c n'],
      ['that a watchdog command moved to a group of its own (C2)', 'timeout 600 sleep 600'],
      ['under job control', 'set -m; sleep 600 & sleep 601 | cat'],
      ['that is stopped', 'sleep 600 & kill -STOP $! $$'],
      ['with orphans', '(sleep 600 & (timeout 600 sleep 601 &) ); sleep 602'],
    ];
    for (const [title, command] of trees) {
      it(`ends a process tree ${title}`, async () => {
        await open({ timeoutMs: 150 });
        await shell.run('true');
        expect(await shell.run(command)).to.match(/^The command did not end/);
        expect(shell.processes()).to.deep.equal([]);
        await closeAndCheck();
      });
    }

    it('may be longer than a timer can be', async () => {
      await open({ timeoutMs: Number.MAX_SAFE_INTEGER });
      expect(await shell.run('sleep 0.01; echo a')).to.equal('a');
      await closeAndCheck();
    });

    it('does not count the time in the queue', async () => {
      await open({ timeoutMs: 1000 });
      const texts = await Promise.all(Array.from({ length: 6 }, () => shell.run('sleep 0.2; echo a')));
      expect(texts).to.deep.equal(Array(6).fill('a'));
    });
  });

  describe('abort', () => {
    it('resets the shell, drops the result, and lets the next call run', async () => {
      await open();
      await shell.run('cd /; kept=yes');
      const controller = new AbortController();
      const running = await start('echo partial; sleep 600', controller.signal);
      const queued = shell.run('pwd; echo "[$kept]"');
      controller.abort();
      const outcome = await running.outcome;
      expect(textOf(outcome)).to.equal('Error: tool call aborted');
      expect(outcome.error).to.deep.equal({ name: 'AbortError', code: 'ABORTED' });
      expect(await queued).to.equal(`${shell.workspace}\n[]`);
      await closeAndCheck();
    });

    it('of a queued call leaves the shell alone', async () => {
      await open();
      const controller = new AbortController();
      const first = shell.run('kept=yes; sleep 0.05');
      const second = shell.tools.call('bash', { command: 'touch unreached' }, controller.signal);
      await new Promise(setImmediate);
      controller.abort();
      expect((await second).error?.code).to.match(/^ABORTED/);
      await first;
      expect(await shell.run('ls; echo $kept')).to.equal('yes');
    });

    it('takes no listener with it to the next call (E9)', async () => {
      await open();
      const { signal } = new AbortController();
      const added = sinon.spy(signal, 'addEventListener');
      const removed = sinon.spy(signal, 'removeEventListener');
      for (let i = 0; i < 3; i++) await shell.run('true', signal);
      expect(added.callCount).to.equal(3);
      expect(removed.args.map(([, listener]) => listener)).to.deep.equal(added.args.map(([, listener]) => listener));
    });
  });

  describe('close', () => {
    const states: readonly (readonly [string, () => Promise<unknown>])[] = [
      ['after use (J5)', () => shell.run('echo a')],
      ['with background processes', () => shell.run('sleep 600 & (timeout 600 sleep 601 &) ; echo a')],
      ['with background processes that ignore SIGTERM', () => shell.run(`${IGNORES_TERM} & trap "" TERM`)],
      ['with one that writes all the time', () => shell.run('yes &')],
      ['with daemons that left their session', () => shell.run('setsid sleep 602 >/dev/null 2>&1 & echo a')],
      ['with daemons of a shell that is gone', () => shell.run('setsid sleep 603 >/dev/null 2>&1 & exit 3')],
    ];
    for (const [title, use] of states) {
      it(`leaves nothing ${title}`, async () => {
        await open();
        await use();
        await closeAndCheck();
      });
    }

    it('ends what runs and what waits', async () => {
      await open();
      const running = await start('sleep 600');
      const waiting = shell.tools.call('bash', { command: 'touch unreached' });
      await closeAndCheck();
      for (const outcome of await Promise.all([running.outcome, waiting])) {
        expect(textOf(outcome)).to.equal('Error: the shell was closed together with its session');
      }
      expect(existsSync(join(shell.workspace, 'unreached'))).to.equal(false);
    });

    for (const turns of [0, 1, 2, 5, 20]) {
      it(`leaves nothing of a shell that is starting, ${turns} turns of the event loop on`, async () => {
        await open();
        const outcome = shell.tools.call('bash', { command: 'sleep 600' });
        for (let i = 0; i < turns; i++) await new Promise(setImmediate);
        await closeAndCheck();
        expect((await outcome).isError).to.equal(true);
      });
    }

    it('is memoised, and refuses later commands', async () => {
      await open();
      await shell.run('true');
      const persistent = shell.tools.scope.get(PersistentShell);
      expect(persistent.close()).to.equal(persistent.close());
      await persistent.close();
      const outcome = await shell.tools.call('bash', { command: 'true' });
      expect(outcome.error?.code).to.equal('SHELL_CLOSED');
      await closeAndCheck();
    });

    it('waits for no time to pass when nothing runs (J5)', async () => {
      await open();
      await shell.run('true');
      const [bash] = shell.processes();
      const kill = sinon.spy(process, 'kill');
      await closeAndCheck();
      // The shell went by the first rung of the ladder.
      expect(kill.args.filter(([, signal]) => signal !== 0)).to.deep.equal([[-(bash as number), 'SIGTERM']]);
    });
  });

  it('keeps the protocol’s descriptors from every child', async () => {
    await open();
    expect(await shell.run('for fd in 0 1 2; do readlink /proc/self/fd/$fd; done')).to.match(
      new RegExp(`^/dev/null\\n${shell.temporary}/dsh-\\w+/\\d\\n${shell.temporary}/dsh-\\w+/\\d$`),
    );
    expect(await shell.run('readlink /proc/$$/fd/2; test -t 0 || echo no terminal')).to.match(/no terminal$/);
  });

  it('keeps others out of its directory', async () => {
    await open();
    expect(await shell.run('stat -c "%a %F" "$TMPDIR"/dsh-* "$TMPDIR"/dsh-*/0')).to.equal('700 directory\n600 fifo');
  });

  it('uses a bounded number of descriptors over many commands', async () => {
    await open();
    await shell.run('true');
    const used = openFiles().length;
    for (let i = 0; i < 50; i++) await shell.run('echo a; true &');
    await until(() => openFiles().length <= used);
    await closeAndCheck();
  });
});
