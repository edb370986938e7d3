import { ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { restore, type SinonFakeTimers, spy, stub, useFakeTimers } from 'sinon';
import { HarnessClient, type HarnessClientOptions, RequestTimeoutError } from '../../src/client/index.js';
import { type FakeRuntime, type FakeScript, fakeRuntime, hang } from '../support/fake-runtime-script.js';
import { rejectionOf } from '../support/rejection-of.js';

describe('the time bounds of a client', () => {
  let runtime: FakeRuntime;
  let client: HarnessClient;
  afterEach(async () => {
    restore();
    for (const { pid } of runtime.of('start')) process.kill(pid, 'SIGKILL');
    await client.close();
    runtime.remove();
  });

  function launch(script: FakeScript, options: HarnessClientOptions): void {
    runtime = fakeRuntime(script);
    client = new HarnessClient({ launch: runtime.launch, ...options });
  }
  /** From now on time passes for the client only when the test says so; its process lives on. */
  function stopTime(): SinonFakeTimers {
    return useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  }

  const defaults = {
    initializeTimeoutMs: 10_000,
    shutdownTimeoutMs: 1000,
    disposeEofGraceMs: 6000,
    disposeGraceMs: 3000,
  };
  const own = {
    initializeTimeoutMs: 70_000,
    shutdownTimeoutMs: 2000,
    disposeEofGraceMs: 4000,
    disposeGraceMs: 5000,
  };
  for (const [whose, options, bounds] of [
    ['defaults', {}, defaults],
    ['options', own, own],
  ] as const) {
    it(`end the handshake when the ${whose} say`, async () => {
      const { initializeTimeoutMs } = bounds;
      launch({ on: { initialize: [[hang]] } }, options);
      const clock = stopTime();
      const settled = spy();
      const handshake = rejectionOf(client.initialize()).finally(settled);
      await clock.tickAsync(initializeTimeoutMs - 1);
      expect(settled.called).to.equal(false);
      await clock.tickAsync(1);
      expect(settled.called).to.equal(true);
      expect(await handshake)
        .to.be.instanceOf(RequestTimeoutError)
        .and.include({ method: 'initialize', timeoutMs: initializeTimeoutMs });
    });

    it(`reach each rung of close when the ${whose} say`, async () => {
      launch({ on: { shutdown: [[hang]] }, onEof: 'ignore', onTerm: 'ignore' }, options);
      await client.initialize();
      const clock = stopTime();
      const end = spy(Socket.prototype, 'end');
      const kill = stub(ChildProcess.prototype, 'kill').returns(true);
      const reached = (): readonly unknown[] => [...end.args.map(() => 'eof'), ...kill.args.flat()];
      const closing = rejectionOf(client.close());
      const climbed: string[] = [];
      for (const [rung, ms] of [
        ['eof', bounds.shutdownTimeoutMs],
        ['SIGTERM', bounds.disposeEofGraceMs],
        ['SIGKILL', bounds.disposeGraceMs],
      ] as const) {
        await clock.tickAsync(ms - 1);
        expect(reached()).to.deep.equal(climbed);
        await clock.tickAsync(1);
        climbed.push(rung);
        expect(reached()).to.deep.equal(climbed);
      }
      await clock.runAllAsync();
      expect((await closing).message).to.equal(
        `runtime process did not exit within ${bounds.disposeGraceMs}ms after SIGKILL was accepted`,
      );
    });
  }

  it('leave other requests alone by default', async () => {
    launch({ on: { slow: [[hang]] } }, {});
    await client.initialize();
    const clock = stopTime();
    const settled = spy();
    void rejectionOf(client.request('slow')).finally(settled);
    await clock.tickAsync(24 * 60 * 60 * 1000);
    expect(settled.called).to.equal(false);
  });
});
