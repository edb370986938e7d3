import { ChildProcess } from 'node:child_process';
import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { stub } from 'sinon';
import {
  DeepSeekHarness,
  type DeepSeekHarnessOptions,
  FrameTooLargeError,
  type HarnessNotification,
  JsonRpcResponseError,
  RequestTimeoutError,
  SdkProtocolError,
  TransportClosedError,
} from '../../src/client/index.js';
import {
  claimed,
  event,
  exit,
  type FakeScript,
  fakeRuntime,
  hang,
  inserted,
  notify,
  receipt,
  reply,
  replyError,
  type Step,
  serverInfo,
  status,
  textRun,
  turn,
  write,
  writeError,
} from '../support/fake-runtime-script.js';
import { rejectionOf } from '../support/rejection-of.js';
import { useFakeRuntimes } from './fake-runtimes.js';

describe('DeepSeekHarness', () => {
  const patience = { shutdownTimeoutMs: 500, disposeEofGraceMs: 500, disposeGraceMs: 2000 };
  const launch = useFakeRuntimes((command, options?: DeepSeekHarnessOptions) => {
    return new DeepSeekHarness({ launch: command, ...patience, ...options });
  });
  const prompts = (...lists: readonly (readonly Step[])[]): FakeScript => ({ on: { 'session/prompt': lists } });

  describe('a run', () => {
    it('gives the answer of a text turn, over one process for all sessions', async () => {
      const usage = { inputTokens: 1769, outputTokens: 24 };
      const { client: harness, runtime } = launch(prompts(textRun('hello there', { usage }), textRun('again')), {
        model: 'm',
      });
      const first = await harness.run('Say hello');
      expect(first).to.include({
        finalResponse: 'hello there',
        outcome: 'completed',
        finishReason: 'completed',
        error: undefined,
      });
      expect(first.usage).to.deep.equal(usage);
      expect(first.sessionId).to.match(/^session-[0-9a-f]{32}$/);
      expect(first.events.map(({ seq }) => seq)).to.deep.equal(first.events.map((_, at) => at));
      expect(first.notifications.at(0)).to.have.nested.property('params.event.type', 'agent/inbox/spliced');
      expect(first.notifications.at(-1)).to.deep.equal({
        method: 'session.status',
        params: { sessionId: first.sessionId, status: 'idle' },
      });

      const blocks = [
        { type: 'text', text: 'a' },
        { type: 'x/own', data: [1] },
      ] as const;
      const second = await harness.run(blocks, { sessionId: 'mine' });
      expect(second).to.include({ sessionId: 'mine', finalResponse: 'again' });
      expect(runtime.of('start')).to.have.length(1);
      expect(runtime.params('initialize')).to.deep.equal([
        { provider: 'deepseek-official', model: 'm', cwd: process.cwd() },
      ]);
      expect(runtime.params('session/prompt')).to.deep.equal([
        { sessionId: first.sessionId, contentBlocks: [{ type: 'text', text: 'Say hello' }] },
        { sessionId: 'mine', contentBlocks: blocks },
      ]);
    });

    it('waits for the idle, and takes nothing from before its receipt', async () => {
      const stale = [event('turn/end', { turn: 0, reason: { kind: 'blocked' } }), status('idle')];
      const late = [inserted(), receipt, ...turn('fresh'), { do: 'delay', ms: 50 } as const, status('idle')];
      const { client: harness } = launch(prompts([...stale, ...late]));
      const result = await harness.run('x');
      expect(result).to.include({ finalResponse: 'fresh', outcome: 'completed' });
      expect(result.events[0]).to.have.property('type', 'agent/inbox/spliced');
    });

    it('takes in the whole tree of subagents, and no other session', async () => {
      const steps = [
        inserted(),
        receipt,
        notify('subagent.started', { parentSessionId: '{{sessionId}}', childSessionId: 'child' }),
        notify('subagent.started', { parentSessionId: 'child', childSessionId: 'grandchild' }),
        event('turn/start', { turn: 1 }, 'grandchild'),
        event('turn/start', { turn: 1 }, 'stranger'),
        status('idle', 'child'),
        ...turn('done'),
        status('idle'),
      ];
      const { client: harness } = launch(prompts(steps));
      const { events, notifications, sessionId } = await harness.run('x');
      const sessions = notifications.flatMap(({ params }) => ('sessionId' in params ? [params.sessionId] : []));
      expect(new Set(sessions)).to.deep.equal(new Set([sessionId, 'grandchild', 'child']));
      expect(notifications.filter(({ method }) => method === 'subagent.started')).to.have.length(2);
      expect(events.every((_, at) => events[at]?.seq === at)).to.equal(true);
    });

    it('resolves for a turn that failed (E1)', async () => {
      const error = { code: 'AUTH', message: 'key refused', status: 401 };
      const { client: harness } = launch(prompts(textRun('', { reason: { kind: 'error', error } })));
      const result = await harness.run('x');
      expect(result).to.include({ outcome: 'error', finishReason: 'error' });
      expect(result.error).to.deep.equal(error);
    });

    it('calls back in wire order, before the result has it, and waits for a promise', async () => {
      const { client: harness } = launch(prompts(textRun('a b c')));
      const heard: HarnessNotification[] = [];
      let busy = false;
      const result = await harness.run('x', {
        onNotification: async (notification) => {
          expect(busy).to.equal(false);
          busy = true;
          await Promise.resolve();
          busy = false;
          heard.push(notification);
        },
      });
      expect(heard).to.deep.equal(result.notifications);
    });

    for (const [how, onNotification] of [
      [
        'throws',
        () => {
          throw new Error('no more');
        },
      ],
      ['rejects', () => Promise.reject(new Error('no more'))],
    ] as const) {
      it(`rejects when its callback ${how}; the next one runs`, async () => {
        const { client: harness } = launch(prompts(textRun('a'), textRun('b')));
        expect(await rejectionOf(harness.run('x', { onNotification }))).to.have.property('message', 'no more');
        expect(await harness.run('y')).to.have.property('finalResponse', 'b');
      });
    }

    it('rejects with the refusal of the runtime, and with a malformed event', async () => {
      const malformed = [inserted(), receipt, notify('session.event', { sessionId: '{{sessionId}}', event: 7 })];
      const { client: harness } = launch(prompts([replyError({ code: -32602, message: 'bad block' })], malformed));
      expect(await rejectionOf(harness.run('x')))
        .to.be.instanceOf(JsonRpcResponseError)
        .and.include({ message: 'bad block' });
      expect(await rejectionOf(harness.run('x'))).to.be.instanceOf(SdkProtocolError);
    });

    it('rejects when the runtime dies under it', async () => {
      const { client: harness } = launch(prompts([inserted(), status('running'), receipt, exit(9)]));
      expect(await rejectionOf(harness.run('x')))
        .to.be.instanceOf(TransportClosedError)
        .and.include({ exitCode: 9 });
      expect(await rejectionOf(harness.run('x'))).to.have.property('reason', 'DeepSeek Harness runtime is not running');
    });

    it('ends well when everything and the end of the process come at once (B5)', async () => {
      const { client: harness } = launch(prompts([...textRun('last words'), exit(0)]));
      expect(await harness.run('x')).to.include({ finalResponse: 'last words', outcome: 'completed' });
    });

    it('fails when a frame is too large, and the next one runs (A4)', async () => {
      const big = [inserted(), receipt, write(`${'x'.repeat(200_000)}\n`), ...turn('lost'), status('idle')];
      const { client: harness, runtime } = launch(prompts(big, textRun('b')), { maxFrameBytes: 100_000 });
      expect(await rejectionOf(harness.run('x')))
        .to.be.instanceOf(FrameTooLargeError)
        .and.include({ limit: 100_000 });
      expect(await harness.run('y')).to.have.property('finalResponse', 'b');
      expect(runtime.of('start')).to.have.length(1);
    });

    it('closes with its runtime when the runtime says so', async () => {
      const begun = [inserted(), status('running'), receipt, event('turn/start', { turn: 1 }), claimed];
      const aborted = { kind: 'aborted', reason: { kind: 'disposed' } };
      const ending = [event('turn/end', { turn: 1, reason: aborted }, 's'), status('idle', 's'), reply({}), exit(0)];
      const { client: harness } = launch({ on: { 'session/prompt': [begun], shutdown: [ending] } });
      const running = harness.run('x', {
        sessionId: 's',
        onNotification: ({ method }) => {
          if (method === 'session.status') void harness.close();
        },
      });
      expect(await running).to.include({ outcome: 'closed', finishReason: 'aborted' });
    });
  });

  describe('bounds of a run', () => {
    it('reject at once, and leave the runtime and its turn alone (decision 19)', async () => {
      const { client: harness, runtime } = launch(prompts([inserted(), receipt, hang], textRun('b')));
      await harness.start();
      const timedOut = (await rejectionOf(harness.run('x', { timeoutMs: 100 }))) as RequestTimeoutError;
      expect(timedOut).to.be.instanceOf(RequestTimeoutError).and.include({ method: 'run', timeoutMs: 100 });
      expect(timedOut.message).to.equal('run timed out after 100ms waiting for the DeepSeek Harness runtime');
      expect(await harness.run('y')).to.have.property('finalResponse', 'b');
      expect(runtime.of('start')).to.have.length(1);
      expect(runtime.of('request').map(({ method }) => method)).to.deep.equal([
        'initialize',
        'session/prompt',
        'session/prompt',
      ]);
    });

    const moments: readonly [string, FakeScript][] = [
      ['the handshake', { on: { initialize: [[hang], [reply(serverInfo)]] } }],
      ['the receipt', prompts([hang])],
      ['the turn', prompts([inserted(), receipt, hang])],
    ];
    for (const [moment, script] of moments) {
      it(`abort during ${moment}, with the reason of the signal`, async () => {
        const { client: harness, runtime } = launch(script);
        const controller = new AbortController();
        const run = rejectionOf(harness.run('x', { signal: controller.signal }));
        const method = moment === 'the handshake' ? 'initialize' : 'session/prompt';
        while (runtime.params(method).length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
        const reason = new Error('enough');
        controller.abort(reason);
        expect(await run).to.equal(reason);
        expect(getEventListeners(controller.signal, 'abort')).to.have.length(0);
      });
    }

    it('abort a run whose callback never comes back', async () => {
      const { client: harness } = launch(prompts(textRun('a')));
      const controller = new AbortController();
      const stuck = (): Promise<void> => {
        controller.abort('by hand');
        return new Promise(() => undefined);
      };
      const thrown = await rejectionOf(harness.run('x', { signal: controller.signal, onNotification: stuck }));
      expect(thrown).to.have.property('message', 'aborted: by hand');
    });

    it('start nothing when the signal is aborted already, and prompt nothing after it was', async () => {
      const { client: harness, runtime } = launch({
        on: { initialize: [[{ do: 'delay', ms: 100 }, reply(serverInfo)]] },
      });
      expect(await rejectionOf(harness.run('x', { signal: AbortSignal.abort() }))).to.have.property(
        'name',
        'AbortError',
      );
      expect(runtime.sightings()).to.deep.equal([]);
      expect(await rejectionOf(harness.run('x', { timeoutMs: 0 }))).to.be.instanceOf(RequestTimeoutError);
      await harness.start();
      expect(runtime.params('session/prompt')).to.deep.equal([]);
    });

    it('leave no listener on a signal that a hundred runs share, and cause no warning (E9)', async () => {
      const warnings: Error[] = [];
      const onWarning = (warning: Error): void => void warnings.push(warning);
      process.on('warning', onWarning);
      try {
        const { client: harness } = launch(prompts(textRun('a')));
        const { signal } = new AbortController();
        const runs = Array.from({ length: 100 }, () => harness.run('x', { signal, timeoutMs: 60_000 }));
        await Promise.all(runs);
        expect(getEventListeners(signal, 'abort')).to.have.length(0);
        await new Promise(setImmediate);
        expect(warnings).to.deep.equal([]);
      } finally {
        process.off('warning', onWarning);
      }
    });
  });

  describe('the handshake', () => {
    it('is shared by concurrent calls', async () => {
      const { client: harness, runtime } = launch(prompts(textRun('a')));
      await Promise.all([harness.start(), harness.start(), harness.run('x'), harness.run('y')]);
      expect(runtime.of('start')).to.have.length(1);
      expect(runtime.params('initialize')).to.have.length(1);
    });

    const failures: readonly [string, readonly Step[], unknown][] = [
      ['the runtime refuses', [replyError({ code: -32602, message: 'no such model' })], JsonRpcResponseError],
      ['the answer is malformed', [reply({})], SdkProtocolError],
      ['the runtime exits', [exit(1)], TransportClosedError],
      ['the runtime is silent', [hang], RequestTimeoutError],
    ];
    for (const [what, steps, type] of failures) {
      it(`ends the process when ${what}, and the next call starts another`, async () => {
        const bounds = steps[0] === hang ? { initializeTimeoutMs: 2500 } : {};
        const { client: harness, runtime } = launch({ on: { initialize: [steps] } }, bounds);
        const [one, other] = await Promise.all([rejectionOf(harness.start()), rejectionOf(harness.run('x'))]);
        expect(one).to.be.instanceOf(type as typeof Error);
        expect(other).to.equal(one);
        expect(() => process.kill(runtime.of('start')[0]?.pid ?? 0, 0)).to.throw(/ESRCH/);
        expect(await rejectionOf(harness.start())).to.be.instanceOf(type as typeof Error);
        expect(new Set(runtime.of('start').map(({ pid }) => pid)).size).to.equal(2);
        await harness.close();
        expect(await rejectionOf(harness.run('x'))).to.have.property(
          'reason',
          'DeepSeek Harness runtime client is closed',
        );
        expect(runtime.of('start')).to.have.length(2);
      }).timeout(30_000);
    }

    it('reports a cleanup that failed as well, and close tries it again', async () => {
      const script = {
        on: { initialize: [[replyError({ message: 'no' })]], shutdown: [[reply({})]] },
        onEof: 'ignore',
        onTerm: 'ignore',
      } as const;
      const { client: harness, runtime } = launch(script, { disposeEofGraceMs: 10, disposeGraceMs: 30 });
      const signals = stub(ChildProcess.prototype, 'kill').returns(true);
      const thrown = (await rejectionOf(harness.start())) as AggregateError;
      signals.restore();
      expect(thrown)
        .to.be.instanceOf(AggregateError)
        .with.property('message', 'DeepSeek Harness initialization and cleanup failed');
      expect(thrown.errors.map((error: Error) => error.message)).to.deep.equal([
        'no',
        'runtime process did not exit within 30ms after SIGKILL was accepted',
      ]);
      await harness.close();
      expect(() => process.kill(runtime.of('start')[0]?.pid ?? 0, 0)).to.throw(/ESRCH/);
    });

    it('starts a dsh with its profile and patches, and names the profile when it is silent', async () => {
      const runtime = fakeRuntime({ on: { initialize: [[writeError('loading…'), hang]] } });
      const bounds = { initializeTimeoutMs: 2500, shutdownTimeoutMs: 10 };
      const harness = new DeepSeekHarness({ dshBin: runtime.bin, profile: 'mine', patches: ['/p.yml'], ...bounds });
      expect((await rejectionOf(harness.start())).message).to.equal(
        [
          'initialize timed out after 2500ms waiting for the DeepSeek Harness runtime',
          'dsh profile "mine"',
          'stderr tail:',
          'loading…',
        ].join('\n'),
      );
      expect(runtime.of('start')[0]?.args).to.deep.equal(['--profile', 'mine', '--patch', '/p.yml']);
      await harness.close();
      runtime.remove();
    });
  });

  it('mints session ids, and takes those it is given', () => {
    const harness = new DeepSeekHarness({});
    expect(harness.session().id).to.match(/^session-[0-9a-f]{32}$/);
    expect(harness.session().id).not.to.equal(harness.session().id);
    expect(harness.session('mine').id).to.equal('mine');
  });

  it('closes at the end of an await using block', async () => {
    const { client: harness, runtime } = launch(prompts(textRun('a')));
    {
      await using scoped = harness;
      await scoped.run('x');
    }
    expect(runtime.params('shutdown')).to.have.length(1);
    expect(await rejectionOf(harness.start())).to.be.instanceOf(TransportClosedError);
  });
});
