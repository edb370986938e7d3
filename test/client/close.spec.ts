import { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { stub } from 'sinon';
import { HarnessClient, type HarnessClientOptions, TransportClosedError } from '../../src/client/index.js';
import {
  exit,
  type FakeRuntime,
  type FakeScript,
  fakeRuntime,
  hang,
  kill,
  reply,
  replyError,
  type Step,
  writeError,
} from '../support/fake-runtime-script.js';
import { isAlive } from '../support/process-table.js';
import { rejectionOf } from '../support/rejection-of.js';

/** Graces so long that a rung which is not meant to be reached would let the test time out. */
const patient = { shutdownTimeoutMs: 60_000, disposeEofGraceMs: 60_000, disposeGraceMs: 60_000 };

describe('HarnessClient.close', () => {
  const runtimes: FakeRuntime[] = [];

  function launch(
    script: FakeScript,
    options: HarnessClientOptions = {},
  ): { client: HarnessClient; runtime: FakeRuntime } {
    const runtime = fakeRuntime(script);
    runtimes.push(runtime);
    return { client: new HarnessClient({ launch: runtime.launch, ...patient, ...options }), runtime };
  }

  afterEach(() => {
    for (const runtime of runtimes.splice(0)) {
      const left = [...runtime.of('start'), ...runtime.of('spawned')].filter(({ pid }) => isAlive(pid));
      for (const { pid } of left) process.kill(pid, 'SIGKILL');
      runtime.remove();
      expect(left, 'processes that survived').to.deep.equal([]);
    }
  });

  const rungs: readonly [string, FakeScript, HarnessClientOptions, readonly string[]][] = [
    ['by its own shutdown', {}, {}, ['request:shutdown']],
    [
      'at the end of stdin, when it refuses the request',
      { on: { shutdown: [[replyError({ message: 'no' })]] } },
      {},
      ['request:shutdown', 'eof'],
    ],
    [
      'at the end of stdin, when it is silent',
      { on: { shutdown: [[hang]] } },
      { shutdownTimeoutMs: 20 },
      ['request:shutdown', 'eof'],
    ],
    [
      'at SIGTERM, when it ignores the end of stdin',
      { on: { shutdown: [[reply({})]] }, onEof: 'ignore', onTerm: { exit: 0 } },
      { disposeEofGraceMs: 50 },
      ['request:shutdown', 'eof', 'SIGTERM'],
    ],
    [
      'at SIGKILL, when it ignores everything',
      { on: { shutdown: [[reply({})]] }, onEof: 'ignore', onTerm: 'ignore' },
      // Long enough for the runtime to note each rung, short enough to get to the end.
      { disposeEofGraceMs: 1000, disposeGraceMs: 1500 },
      ['request:shutdown', 'eof', 'SIGTERM'],
    ],
  ];
  for (const [when, script, options, expected] of rungs) {
    it(`ends a runtime ${when}`, async () => {
      const { client, runtime } = launch(script, options);
      await client.initialize();
      const subscription = client.subscribe();
      await client.close();
      const seen = runtime
        .sightings()
        .map((sighting) => (sighting.saw === 'request' ? `request:${sighting.method}` : sighting.saw));
      expect(seen).to.deep.equal(['start', 'request:initialize', ...expected]);
      expect(runtime.of('start').map(({ pid }) => isAlive(pid))).to.deep.equal([false]);
      expect(await rejectionOf(subscription.next())).to.have.property('reason', 'DeepSeek Harness runtime closed');
    });
  }

  it('lets the runtime finish what it says after the shutdown request', async () => {
    const slowExit: Step[] = [reply({}), { do: 'notify', method: 'last', params: {} }, exit(0)];
    const { client } = launch({ on: { shutdown: [slowExit], slow: [[hang]] } });
    await client.initialize();
    const subscription = client.subscribe();
    const pending = rejectionOf(client.request('slow'));
    await client.close();
    expect(subscription.tryNext()).to.have.property('method', 'last');
    expect(await pending)
      .to.be.instanceOf(TransportClosedError)
      .with.property('reason', 'DeepSeek Harness runtime closed');
  });

  it('is idempotent: at once, later, during the start, after a crash (E6)', async () => {
    const { client } = launch({});
    client.start();
    const closing = [client.close(), client.close()];
    expect(closing[0]).to.equal(closing[1]);
    await Promise.all(closing);
    await client.close();

    const crashed = launch({ on: { die: [[exit(1)]] } });
    await rejectionOf(crashed.client.request('die'));
    await crashed.client.close();
    expect(crashed.runtime.params('shutdown')).to.deep.equal([]);
  });

  it('rejects a handshake that is under way, and everything later', async () => {
    const { client } = launch({ on: { initialize: [[hang]], shutdown: [[reply({}), exit(0)]] } });
    const handshake = rejectionOf(client.initialize());
    await client.close();
    expect(await handshake).to.have.property('reason', 'DeepSeek Harness runtime closed');
    expect(await rejectionOf(client.request('x'))).to.have.property(
      'reason',
      'DeepSeek Harness runtime client is closed',
    );
    expect(() => client.start()).to.throw(TransportClosedError, 'DeepSeek Harness runtime client is closed');
    expect(client.subscribe().failure).to.be.instanceOf(TransportClosedError);
  });

  it('starts nothing on a client that never ran, and is final', async () => {
    const { client, runtime } = launch({});
    await client.close();
    expect(await rejectionOf(client.initialize())).to.be.instanceOf(TransportClosedError);
    expect(runtime.sightings()).to.deep.equal([]);
  });

  it('notes a shutdown that failed beside the stderr of the runtime', async () => {
    const { client } = launch({ on: { shutdown: [[writeError('oops\n'), replyError({ message: 'not now' })]] } });
    await client.initialize();
    await client.close();
    const { stderrTail } = (await rejectionOf(client.request('x'))) as TransportClosedError;
    expect(stderrTail).to.have.members(['oops', 'shutdown request failed: not now']);
  });

  describe('leaves no process behind', () => {
    /** One for each way of finding it. */
    const spawnBoth: readonly Step[] = [
      { do: 'spawn', tie: 'environment' },
      { do: 'spawn', tie: 'group' },
    ];
    const alive = (runtime: FakeRuntime): readonly string[] =>
      runtime.of('spawned').flatMap(({ pid, tie }) => (isAlive(pid) ? [tie] : []));
    const cases: readonly [string, FakeScript, HarnessClientOptions][] = [
      ['that ends in order', {}, {}],
      [
        'that is killed',
        { on: { shutdown: [[hang]] }, onEof: 'ignore', onTerm: 'ignore' },
        { shutdownTimeoutMs: 10, disposeEofGraceMs: 10, disposeGraceMs: 300 },
      ],
      [
        'that ends by SIGTERM',
        { on: { shutdown: [[hang]] }, onEof: 'ignore' },
        { shutdownTimeoutMs: 10, disposeEofGraceMs: 10 },
      ],
      ['that crashed', { on: { shutdown: [[kill('SIGSEGV')]] } }, {}],
      ['that exits with an error', { on: { shutdown: [[exit(3)]] } }, {}],
    ];
    for (const [what, script, options] of cases) {
      it(`of a runtime ${what}`, async () => {
        const { client, runtime } = launch(
          { ...script, on: { ...script.on, go: [[...spawnBoth, reply(1)]] } },
          options,
        );
        await client.request('go');
        expect(alive(runtime)).to.deep.equal(['environment', 'group']);
        await client.close();
        expect(alive(runtime)).to.deep.equal([]);
      });
    }

    it('of a runtime whose children hold its stdout', async () => {
      const spawns = spawnBoth.map((step) => ({ ...step, holdsStdout: true }));
      const { client, runtime } = launch({ on: { go: [[...spawns, reply(1)]] } });
      await client.request('go');
      expect(alive(runtime)).to.deep.equal(['environment', 'group']);
      await client.close();
      expect(alive(runtime)).to.deep.equal([]);
    });

    it('and kills those of a runtime that died by itself without waiting for close', async () => {
      const { client, runtime } = launch({ on: { go: [[...spawnBoth, kill('SIGKILL')]] } });
      await rejectionOf(client.request('go'));
      expect(runtime.of('spawned')).to.have.length(2);
      while (alive(runtime).length > 0) await delay(5);
      await client.close();
    });

    it('and does not touch the children of another runtime', async () => {
      const [one, other] = [
        launch({ on: { go: [[{ do: 'spawn' }, kill('SIGKILL')]] } }),
        launch({ on: { go: [[{ do: 'spawn' }, reply(1)]] } }),
      ];
      await other.client.request('go');
      await rejectionOf(one.client.request('go'));
      await one.client.close();
      const [spared] = other.runtime.of('spawned');
      expect(isAlive(spared?.pid ?? 0)).to.equal(true);
      await other.client.close();
    });
  });

  it('tells of a process that outlives SIGKILL, and a later close tries again', async () => {
    const { client, runtime } = launch(
      { on: { shutdown: [[reply({})]] }, onEof: 'ignore', onTerm: 'ignore' },
      { disposeEofGraceMs: 10, disposeGraceMs: 30 },
    );
    await client.initialize();
    const subscription = client.subscribe();
    for (const [accepted, verdict] of [
      [true, 'accepted'],
      [false, 'refused'],
    ] as const) {
      const signals = stub(ChildProcess.prototype, 'kill').returns(accepted);
      const thrown = await rejectionOf(client.close());
      expect(thrown.message).to.equal(`runtime process did not exit within 30ms after SIGKILL was ${verdict}`);
      expect(signals.args).to.deep.equal([['SIGTERM'], ['SIGKILL']]);
      signals.restore();
    }
    expect(await rejectionOf(subscription.next())).to.have.property('reason', 'DeepSeek Harness runtime closed');
    expect(runtime.of('start').map(({ pid }) => isAlive(pid))).to.deep.equal([true]);
    await client.close();
    expect(runtime.of('start').map(({ pid }) => isAlive(pid))).to.deep.equal([false]);
  });
});
