import { expect } from 'chai';
import { AgentWorld, prompt, readable } from '../support/agent-world.js';
import { fails, says } from '../support/fake-model.js';
import { outcome } from '../support/fake-tools.js';

const CALLS = [{ id: 'c-1', name: 'echo' }];

describe('steering', () => {
  let world: AgentWorld;
  beforeEach(async () => {
    world = await AgentWorld.create();
  });
  afterEach(() => world.close());

  const asked = (index: number) => readable(world.model.requests[index]?.messages ?? []);

  it('joins the next step, after the results of the running tools', async () => {
    world.model.replies.push(() => says({ calls: CALLS }));
    const agent = await world.agent();
    world.tools.body = async () => {
      await agent.steer(prompt('mind this'));
      return outcome('done');
    };
    await world.ran(['go']);
    expect(asked(1)).to.deep.equal(['user: go', 'call c-1', 'result c-1', 'user: mind this']);
    expect(world.ends()).to.have.lengthOf(1);
  });

  it('continues a turn that was about to end', async () => {
    const agent = await world.agent();
    world.react = (event) => {
      if (event.type === 'assistant/message' && event.data.step === 1) void agent.steer(prompt('more'));
    };
    await world.ran(['go']);
    expect(asked(1)).to.deep.equal(['user: go', 'assistant: ok', 'user: more']);
    expect(world.ends()).to.deep.equal([{ kind: 'completed' }]);
  });

  it('starts a turn when the agent is idle', async () => {
    const agent = await world.agent();
    await agent.steer(prompt('hello'));
    await agent.whenIdle();
    expect(asked(0)).to.deep.equal(['user: hello']);
  });

  it('gets a turn of its own when it comes in the window of an abort', async () => {
    const agent = await world.agent();
    world.react = (event) => {
      if (event.type !== 'assistant/message' || event.data.turn !== 1) return;
      agent.cancel({ kind: 'user' });
      void agent.steer(prompt('instead'));
    };
    await world.ran(['go']);
    expect(world.ends()).to.deep.equal([{ kind: 'aborted', reason: { kind: 'user' } }, { kind: 'completed' }]);
    expect(world.events('agent/inbox/spliced').map((event) => event.data.target)).to.not.include('next-step');
    expect(asked(1)).to.deep.equal(['user: go', 'assistant: ok', 'user: instead']);
  });

  it('runs after a failed step in a turn of its own', async () => {
    const agent = await world.agent();
    world.model.replies.push(() => fails('AUTH', 'down'));
    world.react = (event) => {
      if (event.type === 'assistant/chunk' && event.data.turn === 1) void agent.steer(prompt('try again'));
    };
    await world.ran(['go']);
    expect(world.ends().map((reason) => reason.kind)).to.deep.equal(['error', 'completed']);
  });

  it('logs an injected message without starting anything; the next turn sees it first', async () => {
    const agent = await world.agent();
    await agent.inject(prompt('by the way'));
    expect(world.outline()).to.deep.equal(['agent/inbox/spliced']);
    await world.ran(['go']);
    expect(asked(0)).to.deep.equal(['user: by the way', 'user: go']);
    expect(world.ends()).to.have.lengthOf(1);
  });

  it('does not run a turn for an injected message that a failed turn left behind', async () => {
    const agent = await world.agent();
    world.model.replies.push(() => fails('AUTH', 'down'));
    world.react = (event) => {
      if (event.type === 'assistant/chunk' && event.data.turn === 1) void agent.inject(prompt('notice'));
    };
    await world.ran(['go']);
    expect(world.ends()).to.have.lengthOf(1);
    expect(world.balance().pending).to.have.lengthOf(1);
    await world.ran(['again']);
    expect(asked(1)).to.deep.equal(['user: go', 'user: notice', 'user: again']);
  });

  it('refuses a message id that is waiting already', async () => {
    const agent = await world.agent();
    await agent.inject(prompt('a', 'same'));
    const thrown = await agent.followup(prompt('b', 'same')).catch((error: unknown) => error);
    expect(thrown).to.have.property('code', 'DUPLICATE_MESSAGE');
    expect(world.events('agent/inbox/spliced')).to.have.lengthOf(1);
  });
});
