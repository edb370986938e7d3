import { expect } from 'chai';
import type { AgentRoute } from '../../src/agent/index.js';
import { AgentWorld, prompt, readable } from '../support/agent-world.js';
import { FakeRepository } from '../support/fake-repository.js';

describe('an agent of a stored session', () => {
  let store: FakeRepository;
  let world: AgentWorld;
  beforeEach(() => {
    store = new FakeRepository();
  });
  afterEach(() => world.scope.close());

  /** A runtime on the store; the one before it is over. */
  async function next(setUp: (world: AgentWorld) => void = () => undefined): Promise<AgentWorld> {
    await world?.scope.close();
    world = await AgentWorld.create({ repository: store });
    setUp(world);
    return world;
  }

  it('goes on where it was: history, seq, turn number, and one header that says so', async () => {
    await (await next()).ran(['first']);
    await next();
    const stored = store.stored.get('s')?.lines.length;
    await world.ran(['second', 'third']);
    expect(readable(world.model.requests[0]?.messages ?? [])).to.deep.equal([
      'user: first',
      'assistant: ok',
      'user: second',
    ]);
    expect(world.events('turn/start').map(({ data }) => data.turn)).to.deep.equal([2, 3]);
    expect(world.events('agent/inbox/spliced')[0]?.seq).to.equal(stored);
    expect(world.events('request/header').map(({ data }) => data.reason)).to.deep.equal(['resume']);
  });

  it('has what was waiting, and runs it first, in order', async () => {
    await next();
    const agent = await world.agent();
    await agent.inject(prompt('by the way', 'i'));
    // As a crash leaves it: nothing is cancelled.
    const lines = [...(store.stored.get('s')?.lines ?? [])];
    const insertion = JSON.parse(lines[0]?.json ?? '');
    const waiting = { ...insertion, seq: 1, data: { target: 'next-turn', start: 0, inserted: [prompt('waits', 'w')] } };
    lines.push({ seq: 1, json: JSON.stringify(waiting) });
    await world.scope.close();
    const header = store.stored.get('s')?.header;
    if (header === undefined) throw new Error('nothing was stored');
    store.stored.set('s', { header, lines });

    await (await next()).ran(['new']);
    expect(readable(world.model.requests[0]?.messages ?? [])).to.deep.equal(['user: by the way', 'user: waits']);
    expect(readable(world.model.requests[1]?.messages ?? []).at(-1)).to.equal('user: new');
  });

  const EFFORTS: readonly (readonly [string, AgentRoute, string | undefined])[] = [
    ['keeps an effort that was chosen for its model', { provider: 'fake', model: 'm-1' }, 'low'],
    ['takes the effort that it is given', { provider: 'fake', model: 'm-1', reasoningEffort: 'max' }, 'max'],
    ['does not take it to another model', { provider: 'fake', model: 'm-2' }, undefined],
  ];
  for (const [what, route, effort] of EFFORTS) {
    it(what, async () => {
      await next();
      const first = await world.agent('s', { provider: 'fake', model: 'm-1', reasoningEffort: 'low' });
      await first.followup(prompt('a'));
      await first.whenIdle();
      await next();
      const agent = await world.agent('s', route);
      await agent.followup(prompt('b'));
      await agent.whenIdle();
      expect(world.model.requests[0]?.config.reasoningEffort).to.equal(effort);
    });
  }

  it('takes no effort for chosen that the adapter supplied', async () => {
    const supplied = ({ model }: AgentWorld, effort: string): void => {
      model.prepared = (config) => ({
        config: { reasoningEffort: effort, ...config },
        ...(config.reasoningEffort === undefined && { adapterDefaults: { reasoningEffort: true } as const }),
      });
    };
    await (await next((one) => supplied(one, 'high'))).ran(['a']);
    await (await next((one) => supplied(one, 'max'))).ran(['b']);
    expect(world.model.requests[0]?.config.reasoningEffort).to.equal('max');
  });
});
