import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageInfo } from '../../src/base/index.js';
import { TransportClosedError } from '../../src/client/index.js';
import { isEvent, type SessionEvent } from '../../src/protocol/index.js';
import { assertBalanced, type Heard } from '../support/balanced-events.js';
import type { ServerAnswer } from '../support/deepseek-server.js';
import { Lab } from '../support/lab.js';
import { commandsWith, isAlive } from '../support/process-table.js';
import { eventually, uniqueNap } from '../support/processes.js';
import type { RawRuntime } from '../support/raw-runtime.js';

const streaming: ServerAnswer = { raw: ['data: {"choices":[{"delta":{"content":"partial"}}]}\n\n'], ending: 'stall' };
const nap = uniqueNap();
const inShell: ServerAnswer = { toolCalls: [{ name: 'bash', arguments: { command: `echo up; ${nap}` } }] };

/** How a client can end a runtime, and the exit code that follows. */
const ENDINGS: readonly [string, (runtime: RawRuntime) => void, number][] = [
  ['shutdown', (runtime) => runtime.write({ jsonrpc: '2.0', id: 'bye', method: 'shutdown' }), 0],
  ['end of stdin', (runtime) => runtime.child.stdin.end(), 0],
  ['SIGTERM', (runtime) => runtime.child.kill('SIGTERM'), 0],
  ['SIGINT', (runtime) => runtime.child.kill('SIGINT'), 130],
  ['SIGHUP', (runtime) => runtime.child.kill('SIGHUP'), 129],
];

function closing(events: readonly SessionEvent[]): unknown {
  return events.filter((event) => isEvent(event, 'turn/end')).at(-1)?.data;
}

/** Nothing is open in a stored log; statuses are not stored, so they are put where they belong. */
function assertClosed(events: readonly SessionEvent[]): void {
  const heard: Heard[] = events.map((event) => ({ event }));
  const first = events.findIndex((event) => isEvent(event, 'turn/start'));
  if (first >= 0) heard.splice(first, 0, { status: 'running' });
  if (first >= 0) heard.push({ status: 'idle' });
  assertBalanced(heard);
}

describe('the end of a runtime', () => {
  let lab: Lab;
  afterEach(() => lab.close());

  for (const [how, end, code] of ENDINGS) {
    for (const [when, answer, type] of [
      ['while the model streams', streaming, 'assistant/chunk'],
      ['while a tool runs', inShell, 'tool/call'],
    ] as const) {
      it(`${how} ${when}: the turn is closed in the log and on the wire, exit ${code} (J6)`, async () => {
        lab = await Lab.open(answer);
        const runtime = await lab.initialized();
        await runtime.prompt('s', 'go');
        await runtime.event(type);
        if (type === 'tool/call') await eventually(() => commandsWith(nap).length > 0);
        end(runtime);
        expect(await runtime.ended).to.deep.equal({ code, signal: null });

        const stored = await lab.storedEvents();
        expect(closing(stored)).to.deep.equal({ turn: 1, reason: { kind: 'aborted', reason: { kind: 'disposed' } } });
        assertClosed(stored);
        expect(runtime.events).to.deep.equal(stored);
        expect(runtime.notifications.at(-1)?.params).to.deep.equal({ sessionId: 's', status: 'idle' });
        if (how === 'shutdown') expect(runtime.frames.at(-1)).to.deep.equal({ jsonrpc: '2.0', id: 'bye', result: {} });
        expect(commandsWith(nap)).to.deep.equal([]);
        expect(runtime.stderr).to.equal('');
      });
    }
  }

  it('shutdown after the shell was used needs no rung of the ladder and leaves nothing (J5)', async () => {
    lab = await Lab.open(
      { toolCalls: [{ name: 'bash', arguments: { command: `setsid ${nap} & ${nap} & echo $$` } }] },
      { text: 'ok' },
    );
    const runtime = await lab.initialized();
    await runtime.prompt('s', 'go');
    await runtime.idle('s');
    const result = runtime.events.find((event) => isEvent(event, 'tool/result'));
    const shell = Number(/"text":"(\d+)"/.exec(JSON.stringify(result))?.[1]);
    expect(isAlive(shell)).to.equal(true);
    expect(await runtime.request('shutdown')).to.deep.equal({});
    expect(await runtime.ended).to.deep.equal({ code: 0, signal: null });
    expect(isAlive(shell)).to.equal(false);
    expect(commandsWith(nap)).to.deep.equal([]);
  });

  it('answers a second shutdown like the first, and refuses prompts meanwhile', async () => {
    lab = await Lab.open(streaming);
    const runtime = await lab.initialized();
    await runtime.prompt('s', 'go');
    runtime.write(
      { jsonrpc: '2.0', id: 1, method: 'shutdown' },
      { jsonrpc: '2.0', id: 2, method: 'shutdown' },
      {
        jsonrpc: '2.0',
        id: 3,
        method: 'session/prompt',
        params: { sessionId: 's', contentBlocks: [{ type: 'text', text: 'x' }] },
      },
    );
    await runtime.ended;
    const answers = new Map(runtime.frames.map((frame) => [frame.id, frame]));
    expect(answers.get(1)?.result).to.deep.equal({});
    expect(answers.get(2)?.result).to.deep.equal({});
    expect(answers.get(3)?.error).to.deep.equal({ code: -32603, message: 'SDK server is shutting down' });
  });

  it('serves a prompt and a shutdown that came in one write, whole (J9)', async () => {
    lab = await Lab.open({ text: 'never finished' });
    const runtime = await lab.initialized();
    const params = { sessionId: 's', contentBlocks: [{ type: 'text', text: 'x' }] };
    runtime.write(
      { jsonrpc: '2.0', id: 1, method: 'session/prompt', params },
      { jsonrpc: '2.0', id: 2, method: 'session/prompt', params },
      { jsonrpc: '2.0', id: 3, method: 'shutdown' },
    );
    expect(await runtime.ended).to.deep.equal({ code: 0, signal: null });
    expect(new Set(runtime.frames.flatMap(({ id }) => (typeof id === 'number' ? [id] : [])))).to.deep.equal(
      new Set([1, 2, 3]),
    );
    assertClosed(await lab.storedEvents());
  });

  it('ends cleanly when prompts came right before the end of stdin (J9)', async () => {
    lab = await Lab.open({ text: 'x' });
    const runtime = await lab.initialized();
    runtime.write({
      jsonrpc: '2.0',
      id: 1,
      method: 'session/prompt',
      params: { sessionId: 's', contentBlocks: [{ type: 'text', text: 'x' }] },
    });
    runtime.child.stdin.end();
    expect(await runtime.ended).to.deep.equal({ code: 0, signal: null });
    assertClosed(await lab.storedEvents());
    expect(runtime.stderr).to.equal('');
  });

  it('stops its turns and exits 0 without a stack trace when nobody reads any more (B2)', async () => {
    const chunk = 'data: {"choices":[{"delta":{"content":"text "}}]}\n\n';
    lab = await Lab.open({ raw: Array.from({ length: 20_000 }, () => chunk), ending: 'stall' });
    const runtime = await lab.initialized();
    await runtime.prompt('s', 'go');
    await runtime.event('assistant/chunk');
    runtime.child.stdout.destroy();
    const code = await new Promise((resolve) => runtime.child.once('exit', resolve));
    expect(code).to.equal(0);
    expect(runtime.stderr).not.to.match(/\n\s+at /);
    const stored = await lab.storedEvents();
    expect(closing(stored)).to.deep.equal({ turn: 1, reason: { kind: 'aborted', reason: { kind: 'disposed' } } });
    assertClosed(stored);
  });

  it('exits by itself, with its tools, when its host is killed (B6)', async () => {
    lab = await Lab.open({ toolCalls: [{ name: 'bash', arguments: { command: nap } }] });
    const { root } = packageInfo();
    const script = `
      import { DeepSeekHarness } from ${JSON.stringify(join(root, 'dist/client/index.js'))};
      const harness = new DeepSeekHarness(${JSON.stringify(lab.options)});
      await harness.run('go');`;
    const host = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'ignore' });
    await eventually(() => commandsWith(nap).length > 0);
    expect(runtimePids(lab.home)).to.have.length(1);
    host.kill('SIGKILL');
    await eventually(() => commandsWith(nap).length === 0);
    await eventually(() => runtimePids(lab.home).length === 0);
    expect(closing(await lab.storedEvents())).not.to.equal(undefined);
  });

  it('rejects the run with exit facts when the runtime is killed in mid-stream, and leaves no tool behind', async () => {
    lab = await Lab.open({ toolCalls: [{ name: 'bash', arguments: { command: `${nap} & echo started` } }] }, streaming);
    const harness = lab.harness();
    const failure = await harness
      .run('go', {
        onNotification: ({ method, params }) => {
          if (method === 'session.event' && isEvent(params.event, 'assistant/chunk') && params.event.data.step === 2) {
            for (const pid of runtimePids(lab.home)) process.kill(pid, 'SIGKILL');
          }
        },
      })
      .then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
    expect(failure).to.be.instanceOf(TransportClosedError);
    expect(failure).to.have.property('signal', 'SIGKILL');
    await harness.close();
    expect(commandsWith(nap)).to.deep.equal([]);
    expect((await lab.storedEvents()).at(-1)?.type).to.equal('assistant/chunk');
  });

  it('takes a SIGTERM after the end of stdin as the first signal: the turn is closed, the tool ended', async () => {
    lab = await Lab.open({ toolCalls: [{ name: 'bash', arguments: { command: `trap '' TERM; ${nap}` } }] });
    const runtime = await lab.initialized();
    await runtime.prompt('s', 'go');
    await eventually(() => commandsWith(nap).length > 0);
    runtime.child.stdin.end();
    runtime.child.kill('SIGTERM');
    expect(await runtime.ended).to.deep.equal({ code: 0, signal: null });
    expect(commandsWith(nap)).to.deep.equal([]);
    assertClosed(await lab.storedEvents());
  });

  describe('when nobody reads its output', () => {
    /** Half a megabyte of frames: several times what the pipe and both ends' buffers hold. */
    const CHUNKS = 2_000;

    /** A runtime with more to say than the pipe holds, to a client that does not listen. */
    async function deaf(): Promise<RawRuntime> {
      const chunk = 'data: {"choices":[{"delta":{"content":"text "}}]}\n\n';
      lab = await Lab.open({ raw: Array.from({ length: CHUNKS }, () => chunk), ending: 'stall' });
      const runtime = await lab.initialized();
      await runtime.prompt('s', 'go');
      runtime.child.stdout.pause();
      await eventually(async () => (await lab.storedEvents()).length > CHUNKS);
      return runtime;
    }

    it('waits within its budget and says for what', async () => {
      const runtime = await deaf();
      runtime.child.stdin.end();
      await new Promise((resolve) => runtime.child.once('exit', resolve));
      expect(runtime.child.exitCode).to.equal(0);
      await eventually(() => /shutdown took longer than 5000 ms, waiting for: SDK server/.test(runtime.stderr));
      assertClosed(await lab.storedEvents());
    });

    it('ends at once on a second signal', async () => {
      const runtime = await deaf();
      runtime.child.kill('SIGINT');
      await eventually(async () => closing(await lab.storedEvents()) !== undefined);
      runtime.child.kill('SIGINT');
      await new Promise((resolve) => runtime.child.once('exit', resolve));
      expect(runtime.child.exitCode).to.equal(130);
      expect(runtime.stderr).not.to.contain('took longer');
    });
  });

  it('lives on when nobody reads its diagnostics any more', async () => {
    lab = await Lab.open({ text: 'ok' });
    const runtime = await lab.initialized();
    runtime.child.stderr.destroy();
    runtime.write('junk that is reported');
    await runtime.prompt('s', 'go');
    await runtime.idle('s');
    runtime.write('more junk');
    expect(await runtime.request('shutdown')).to.deep.equal({});
    expect((await runtime.ended).code).to.equal(0);
  });
});

/** Runtimes whose home is `home`. */
function runtimePids(home: string): number[] {
  return commandsWith('dsh.js').filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`DSH_HOME=${home}`);
    } catch {
      return false;
    }
  });
}
