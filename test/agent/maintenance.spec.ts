import { expect } from 'chai';
import type { Agent } from '../../src/agent/index.js';
import { Deferred } from '../../src/base/index.js';
import { AgentWorld, prompt } from '../support/agent-world.js';
import { hangs } from '../support/fake-model.js';
import { rejectionOf } from '../support/rejection-of.js';

describe('Agent.runMaintenance', () => {
  let world: AgentWorld;
  let agent: Agent;
  beforeEach(async () => {
    world = await AgentWorld.create();
    agent = await world.ran(['before']);
  });
  afterEach(() => world.close());

  /** A job that ends when its signal is aborted, or when it is told to. */
  function job() {
    const done = new Deferred<string>();
    const running = agent.runMaintenance(async (signal) => {
      signal.addEventListener('abort', () => done.reject(new Error('aborted')));
      return done.promise;
    });
    return { done, running };
  }

  it('gives what the job gives, tells nobody, and makes prompts wait for the end', async () => {
    const { done, running } = job();
    await agent.followup(prompt('a', 'a'));
    await agent.steer(prompt('b', 'b'));
    expect(agent.status).to.equal('idle');
    expect(agent.isBusy).to.equal(true);
    expect(world.ends()).to.have.lengthOf(1);
    expect(world.outline().filter((name) => name === 'running')).to.have.lengthOf(1);
    done.resolve('compacted');
    expect(await running).to.equal('compacted');
    await agent.whenIdle();
    expect(world.ends()).to.have.lengthOf(2);
    expect(world.balance().claimed.slice(1)).to.deep.equal(['b', 'a']);
  });

  it('fails as the job fails, and the queue runs', async () => {
    const { done, running } = job();
    await agent.followup(prompt('a'));
    done.reject(new Error('no summary'));
    expect(await rejectionOf(running)).to.have.property('message', 'no summary');
    await agent.whenIdle();
    expect(world.ends()).to.have.lengthOf(2);
  });

  it('fails for a job that throws at once', async () => {
    const thrown = agent.runMaintenance(() => {
      throw new Error('at once');
    });
    expect(await rejectionOf(thrown)).to.have.property('message', 'at once');
    expect(agent.isBusy).to.equal(false);
  });

  it('is refused while a turn or another job runs, and after disposal', async () => {
    const busy = { code: 'AGENT_BUSY', message: 'agent "s" already has active work' };
    const refused = () => rejectionOf(agent.runMaintenance(async () => undefined));
    const { done, running } = job();
    expect(await refused()).to.include(busy);
    done.resolve('');
    await running;
    world.model.replies.push((request) => hangs(request));
    await agent.followup(prompt('x'));
    expect(await refused()).to.include(busy);
    agent.cancel({ kind: 'disposed' });
    await agent.whenIdle();
    expect(await refused()).to.include({ code: 'AGENT_DISPOSED' });
  });

  for (const keepInbox of [false, true]) {
    it(`is aborted by a cancel, which ${keepInbox ? 'leaves' : 'drops'} what waits`, async () => {
      const { running } = job();
      await agent.followup(prompt('a', 'a'));
      agent.cancel({ kind: 'user' }, { keepInbox });
      expect(await rejectionOf(running)).to.have.property('message', 'aborted');
      await agent.whenIdle();
      expect(world.ends()).to.have.lengthOf(keepInbox ? 2 : 1);
      expect(world.balance().cancelled).to.deep.equal(keepInbox ? [] : ['a']);
    });
  }

  it('is aborted and waited for by disposal; nothing runs after it', async () => {
    const { running } = job();
    await agent.followup(prompt('a'));
    const failure = rejectionOf(running);
    await world.scope.close();
    expect(await failure).to.have.property('message', 'aborted');
    expect(world.ends()).to.have.lengthOf(1);
  });
});
