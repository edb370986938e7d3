import { expect } from 'chai';
import { ContainerModule } from 'inversify';
import { type SinonFakeTimers, useFakeTimers } from 'sinon';
import { SessionHold } from '../../src/agent/index.js';
import { CodedError, Deferred } from '../../src/base/index.js';
import { StoreFailedError } from '../../src/session/index.js';
import { AgentWorld, type AgentWorldOptions, prompt, readable } from '../support/agent-world.js';
import { hangs, says } from '../support/fake-model.js';
import { outcome } from '../support/fake-tools.js';
import { rejectionOf } from '../support/rejection-of.js';

const TIMEOUT_MS = 60_000;

describe('an idle session', () => {
  let world: AgentWorld;
  let clock: SinonFakeTimers;
  beforeEach(() => {
    clock = useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });
  afterEach(async () => {
    clock.restore();
    await world.close();
  });

  async function start(options: AgentWorldOptions = {}): Promise<void> {
    world = await AgentWorld.create({ agentConfig: { idleTimeoutMs: TIMEOUT_MS }, ...options });
  }
  const live = (): readonly string[] => world.registry.list().map(({ id }) => id);
  const hold = (holds: () => boolean) => ({
    name: 'holder',
    module: new ContainerModule(({ bind }) => void bind(SessionHold).toConstantValue({ name: 'mine', holds })),
  });

  it('is closed after the timeout, and continued by the next prompt as if nothing had been', async () => {
    await start();
    const before = await world.ran(['first']);
    clock.tick(TIMEOUT_MS - 1);
    expect(live()).to.deep.equal(['s']);
    clock.tick(1);
    expect(live()).to.deep.equal([]);
    const after = await world.ran(['second']);
    expect(after).to.not.equal(before);
    expect(world.repository.closed).to.have.lengthOf(1);
    expect(readable(world.model.requests[1]?.messages ?? [])).to.deep.equal([
      'user: first',
      'assistant: ok',
      'user: second',
    ]);
    expect(world.events('turn/start').map(({ data }) => data.turn)).to.deep.equal([1, 2]);
    expect(world.events('request/header').map(({ data }) => data.reason)).to.deep.equal(['initial', 'resume']);
  });

  it('is idle from the end of its last turn, or from when it was last opened', async () => {
    await start();
    world.model.replies.push((request) => hangs(request));
    const agent = await world.agent();
    await agent.followup(prompt('x'));
    clock.tick(2 * TIMEOUT_MS);
    expect(live(), 'runs').to.deep.equal(['s']);
    agent.cancel({ kind: 'user' });
    await agent.whenIdle();
    clock.tick(TIMEOUT_MS - 1);
    await world.agent();
    clock.tick(TIMEOUT_MS - 1);
    expect(live(), 'was opened').to.deep.equal(['s']);
    clock.tick(1);
    expect(live()).to.deep.equal([]);
  });

  it('goes when there are too many, the one that was idle longest first', async () => {
    await start({ agentConfig: { maxIdleSessions: 2 } });
    for (const id of ['a', 'b', 'c']) await world.ran(['x'], id);
    await world.ran(['y'], 'a');
    clock.tick(1);
    expect(live()).to.have.members(['a', 'c']);
    for (const id of ['d', 'e']) await world.ran(['x'], id);
    clock.tick(1);
    expect(live()).to.have.members(['d', 'e']);
  });

  it('with a limit of none still runs what is prompted', async () => {
    await start({ agentConfig: { maxIdleSessions: 0 } });
    for (const text of ['one', 'two', 'three']) {
      await world.ran([text]);
      clock.tick(1);
      expect(live()).to.deep.equal([]);
    }
    expect(world.ends().map(({ kind }) => kind)).to.deep.equal(['completed', 'completed', 'completed']);
  });

  it('stays while something holds it, uncounted, and is asked again after the timeout', async () => {
    let held = true;
    let asked = 0;
    const holds = (): boolean => {
      asked += 1;
      return held;
    };
    await start({ sessionModules: [hold(holds)], agentConfig: { idleTimeoutMs: TIMEOUT_MS, maxIdleSessions: 1 } });
    for (const id of ['a', 'b', 'c']) await world.ran(['x'], id);
    clock.tick(1);
    expect(live()).to.deep.equal(['a', 'b', 'c']);
    expect(asked).to.equal(2);
    held = false;
    clock.tick(TIMEOUT_MS - 2);
    expect(live()).to.deep.equal(['a', 'b', 'c']);
    clock.tick(2);
    expect(live()).to.deep.equal([]);
  });

  it('that could not go and was used since is idle anew', async () => {
    let held = true;
    await start({ sessionModules: [hold(() => held)] });
    await world.ran(['x']);
    clock.tick(TIMEOUT_MS);
    held = false;
    clock.tick(TIMEOUT_MS - 1);
    await world.ran(['y']);
    clock.tick(TIMEOUT_MS - 1);
    expect(live()).to.deep.equal(['s']);
    clock.tick(1);
    expect(live()).to.deep.equal([]);
  });

  it('stays when a hold throws, which is logged', async () => {
    await start({
      sessionModules: [
        hold(() => {
          throw new Error('broken hold');
        }),
      ],
    });
    await world.ran(['x']);
    clock.tick(TIMEOUT_MS);
    expect(live()).to.deep.equal(['s']);
    expect(world.errors).to.deep.equal(['a session hold threw']);
  });

  it('stays while events of it are not stored', async () => {
    await start();
    const agent = await world.ran(['x']);
    world.repository.beforeAppend = () => {
      throw new Error('disk full');
    };
    expect(await rejectionOf(agent.followup(prompt('y')))).to.be.instanceOf(StoreFailedError);
    clock.tick(TIMEOUT_MS);
    expect(live()).to.deep.equal(['s']);
    world.repository.beforeAppend = () => undefined;
    await world.ran(['z']);
    clock.tick(TIMEOUT_MS);
    expect(live()).to.deep.equal([]);
    expect(world.events('agent/inbox/spliced').length).to.be.greaterThan(3);
  });

  it('stays during maintenance', async () => {
    await start();
    const agent = await world.ran(['x']);
    const done = new Deferred<void>();
    const maintained = agent.runMaintenance(() => done.promise);
    clock.tick(TIMEOUT_MS);
    expect(live()).to.deep.equal(['s']);
    done.resolve();
    await maintained;
    clock.tick(TIMEOUT_MS);
    expect(live()).to.deep.equal([]);
  });

  it('keeps what was injected for a later turn', async () => {
    await start();
    const agent = await world.ran(['x']);
    await agent.inject(prompt('by the way'));
    clock.tick(TIMEOUT_MS);
    expect(live()).to.deep.equal([]);
    await world.ran(['y']);
    expect(world.balance().cancelled).to.deep.equal([]);
    expect(readable(world.model.requests[1]?.messages ?? []).slice(-2)).to.deep.equal(['user: by the way', 'user: y']);
  });

  const WAITING: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['a prompt', () => world.ran(['y'])],
    ['the end of the runtime', () => world.registry.closeAll()],
  ];
  for (const [what, wait] of WAITING) {
    it(`that is being closed makes ${what} wait`, async () => {
      await start();
      await world.ran(['x']);
      const closing = new Deferred<void>();
      world.repository.beforeClose = () => closing.promise;
      clock.tick(TIMEOUT_MS);
      let settled = false;
      const waiting = wait().finally(() => {
        settled = true;
      });
      await new Promise((resolve) => setImmediate(resolve));
      expect(settled).to.equal(false);
      expect(world.repository.closed).to.have.lengthOf(1);
      closing.resolve();
      await waiting;
    });
  }

  it('whose log cannot be closed is logged, and can be opened again', async () => {
    await start();
    await world.ran(['x']);
    world.repository.beforeClose = () => Promise.reject(new Error('EIO'));
    clock.tick(TIMEOUT_MS);
    world.model.replies.push(() => says({ text: 'again' }));
    await world.ran(['y']);
    expect(world.errors).to.deep.equal(['an evicted session was not closed']);
    expect(world.ends()).to.have.lengthOf(2);
    world.repository.beforeClose = () => undefined;
  });

  it('leaves no timer behind', async () => {
    await start();
    await world.ran(['x']);
    expect(clock.countTimers()).to.equal(1);
    await world.scope.close();
    expect(clock.countTimers()).to.equal(0);
  });
});

describe('a session that another runtime has taken', () => {
  let world: AgentWorld;
  beforeEach(async () => {
    world = await AgentWorld.create();
  });
  afterEach(() => world.scope.close());

  it('is opened anew by the next prompt, with what the other one stored', async () => {
    const before = await world.ran(['mine']);
    world.repository.assertHeld = () => {
      throw new CodedError('LEASE_LOST', 'taken');
    };
    await world.ran(['lost']);
    expect(world.ends().at(-1)).to.have.nested.property('error.code', 'LEASE_LOST');
    world.repository.assertHeld = () => undefined;
    const stored = world.repository.stored.get('s')?.lines.length;
    const after = await world.agent();
    expect(after).to.not.equal(before);
    expect(after.session).to.deep.include({ resumed: true });
    expect(after.session.nextSeq).to.be.at.least(stored ?? Number.NaN);
  });

  it('is not taken from a turn that still runs', async () => {
    const entered = new Deferred<void>();
    const leave = new Deferred<void>();
    world.tools.body = async () => {
      entered.resolve();
      await leave.promise;
      return outcome('late');
    };
    world.model.replies.push(() => says({ calls: [{ id: 'c', name: 'echo' }] }));
    const agent = await world.agent();
    await agent.followup(prompt('x'));
    await entered.promise;
    world.repository.beforeAppend = () => {
      throw new CodedError('LEASE_LOST', 'taken');
    };
    await rejectionOf(agent.inject(prompt('y')));
    expect(await world.agent()).to.equal(agent);
    leave.resolve();
    await agent.whenIdle();
    world.repository.beforeAppend = () => undefined;
    expect(await world.agent()).to.not.equal(agent);
  });
});
