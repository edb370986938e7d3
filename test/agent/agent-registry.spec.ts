import { expect } from 'chai';
import { ContainerModule, inject, injectable } from 'inversify';
import { type Agent, type AgentRegistry, AgentRoute, type SessionModule } from '../../src/agent/index.js';
import { Deferred } from '../../src/base/index.js';
import { CurrentScope, type Scope, serviceId } from '../../src/kernel/index.js';
import { SessionParticipant, SessionStore } from '../../src/session/index.js';
import type { Tool } from '../../src/tool/index.js';
import { AgentWorld, type AgentWorldOptions, prompt } from '../support/agent-world.js';
import { hangs, hangsForGood, says } from '../support/fake-model.js';

const INIT = { id: 's', cwd: '/ws', route: { provider: 'fake', model: 'm-1' } };

function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
}

describe('ScopedAgentRegistry', () => {
  let world: AgentWorld;
  let registry: AgentRegistry;
  async function start(options?: AgentWorldOptions): Promise<void> {
    world = await AgentWorld.create(options);
    registry = world.registry;
  }
  beforeEach(() => start());

  const sessions = () => world.scope.get(SessionStore);

  describe('open', () => {
    afterEach(() => world.close());

    it('gives one agent for an id, however many ask at once', async () => {
      let creations = 0;
      world.repository.beforeCreate = () => {
        creations += 1;
      };
      const agents = await Promise.all(Array.from({ length: 5 }, () => registry.open(INIT)));
      expect(new Set([...agents, await registry.open(INIT), registry.get('s')]).size).to.equal(1);
      expect(creations).to.equal(1);
      expect(registry.list()).to.deep.equal([agents[0]]);
      expect(agents[0]).to.deep.include({ id: 's', route: INIT.route, status: 'idle' });
      expect(agents[0]?.session.header).to.deep.include({ id: 's', cwd: '/ws' });
    });

    it('fails for all who asked, forgets it, and creates when asked again', async () => {
      world.repository.beforeCreate = () => Promise.reject(new Error('no disk'));
      const failures = await Promise.all([rejection(registry.open(INIT)), rejection(registry.open(INIT))]);
      expect(failures.map(String)).to.deep.equal(['Error: no disk', 'Error: no disk']);
      expect(registry.list()).to.deep.equal([]);
      world.repository.beforeCreate = () => undefined;
      await world.ran(['hello']);
      expect(world.ends()).to.deep.equal([{ kind: 'completed' }]);
    });

    it('refuses an id that is live elsewhere, and continues one that is stored', async () => {
      await sessions().open({ id: 'live', cwd: '/ws' });
      expect(await rejection(registry.open({ ...INIT, id: 'live' }))).to.have.property('code', 'SESSION_LIVE');
      await (await world.agent('old')).inject(prompt('a'));
      await world.scope.close();
      const { repository } = world;
      await start({ repository });
      const { session } = await world.agent('old');
      expect(session.resumed).to.equal(true);
      expect(session.pendingInbox['next-step'].map(({ id }) => id)).to.deep.equal([]);
    });

    it('does not let callers change the route', async () => {
      const route = { ...INIT.route };
      const agent = await registry.open({ ...INIT, route });
      route.model = 'other';
      expect(agent.route).to.deep.equal(INIT.route).and.to.be.frozen;
    });

    it('runs a hundred sessions beside each other', async () => {
      world.model.otherwise = ({ sessionId, messages }) =>
        says(messages.length === 1 ? { calls: [{ id: `c-${sessionId}`, name: 'echo' }] } : { text: sessionId });
      const ids = Array.from({ length: 100 }, (_, index) => `s-${index}`);
      await Promise.all(ids.map((id) => world.ran(['a', 'b'], id)));
      for (const id of ids) {
        expect(world.balance(id).ends).to.deep.equal(['completed', 'completed']);
        expect(world.events('tool/call', id).map((event) => event.data.callId)).to.deep.equal([`c-${id}`]);
      }
      expect(registry.list()).to.have.lengthOf(100);
    });

    it('tells a tool in which session it is called, however many call it at once (G11)', async () => {
      const ids = Array.from({ length: 20 }, (_, index) => `s-${index}`);
      let inside = 0;
      const together = new Deferred<void>();
      const whoami: Tool = {
        name: 'whoami',
        description: 'Says where it is called.',
        parameters: { type: 'object' },
        execute: async (_, call) => {
          inside += 1;
          if (inside === ids.length) together.resolve();
          await together.promise;
          return call.sessionId;
        },
      };
      await world.close();
      await start({ realTools: [whoami] });
      world.model.otherwise = ({ messages }) =>
        says(messages.length === 1 ? { calls: [{ id: 'c', name: 'whoami', arguments: '{}' }] } : { text: 'ok' });
      await Promise.all(ids.map((id) => world.ran(['go'], id)));
      for (const id of ids) {
        const [result] = world.events('tool/result', id);
        expect(result?.data.message.content[0]?.content).to.deep.equal([{ type: 'text', text: id }]);
      }
    });
  });

  describe('a session scope', () => {
    const OwnerService = serviceId<object>('test/Owner');

    it('gets the session parts of the modules, in order, with the session and its route', async () => {
      const built: string[] = [];
      const parts = ['one', 'two'].map((name): SessionModule => {
        const module = new ContainerModule(({ bind }) => {
          bind(SessionParticipant).toResolvedValue(
            (route) => {
              built.push(`${name} ${route.model}`);
              return { name, committed: (event) => void built.push(`${name} ${event.type}`) };
            },
            [AgentRoute],
          );
        });
        return { name, module };
      });
      await start({ sessionModules: parts });
      const agent = await world.agent();
      await agent.inject(prompt('x'));
      expect(built).to.deep.equal(['one m-1', 'two m-1', 'one agent/inbox/spliced', 'two agent/inbox/spliced']);
      await world.close();
    });

    const broken: readonly [string, ContainerModule, string][] = [
      [
        'shadows a service of the runtime',
        new ContainerModule(({ bind }) => void bind(SessionStore).toConstantValue({} as SessionStore)),
        'session part of module "broken" must not bind again what is bound already: SessionStore',
      ],
      [
        'throws while it binds',
        new ContainerModule(() => {
          throw new Error('no part');
        }),
        'no part',
      ],
      [
        'contributes what cannot be built',
        new ContainerModule(({ bind }) => {
          bind(SessionParticipant).toDynamicValue(() => {
            throw new Error('no participant');
          });
        }),
        'no participant',
      ],
    ];
    for (const [what, module, message] of broken) {
      it(`is rolled back when a part ${what}`, async () => {
        const torn: string[] = [];
        const owner = new ContainerModule(({ bind }) => {
          bind(SessionParticipant).toResolvedValue(
            (scope) => {
              scope.defer('owner', () => void torn.push('owner'));
              return { name: 'owner', committed: () => undefined };
            },
            [CurrentScope],
          );
        });
        await start({
          sessionModules: [
            { name: 'owner', module: owner },
            { name: 'broken', module },
          ],
        });
        for (let attempt = 0; attempt < 2; attempt += 1) {
          expect(String(await rejection(registry.open(INIT)))).to.contain(message);
          expect(registry.list()).to.deep.equal([]);
          expect(sessions().get('s')).to.equal(undefined);
          expect([...world.repository.open, ...world.repository.stored.keys()]).to.deep.equal([]);
        }
        expect(torn).to.deep.equal(message === 'no participant' ? ['owner', 'owner'] : []);
        await world.close();
      });
    }

    it('closes in order: the agent, what the modules own, the registration, the log', async () => {
      const order: string[] = [];
      @injectable()
      class Owner {
        constructor(@inject(CurrentScope) scope: Scope) {
          scope.defer('owner', () => {
            order.push(`owner, agent ${world.registry.get('s')?.status}, ${world.ends().length} ends`);
          });
        }
      }
      const module = new ContainerModule(({ bind }) => {
        bind(OwnerService).to(Owner);
        bind(SessionParticipant).toResolvedValue(
          (_owner: object) => ({ name: 'p', committed: () => undefined }),
          [OwnerService],
        );
      });
      await start({ sessionModules: [{ name: 'owner', module }] });
      world.model.replies.push((request) => hangs(request));
      const agent = await world.agent();
      await agent.followup(prompt('a'));
      const close = agent.session.close.bind(agent.session);
      agent.session.close = () => {
        order.push(`log, registered: ${registry.get('s') !== undefined}`);
        return close();
      };
      await registry.closeAll();
      expect(order).to.deep.equal(['owner, agent idle, 1 ends', 'log, registered: false']);
      await world.close();
    });
  });

  describe('closeAll', () => {
    const disposed = { kind: 'aborted', reason: { kind: 'disposed' } };

    it('ends turns in mid-stream and mid-tool with balanced events, drops queues and refuses more', async () => {
      world.model.otherwise = (request) => hangs(request, { type: 'block-start', index: 0, blockType: 'text' });
      world.model.replies.push(() => hangsForGood());
      const agents: Agent[] = [];
      for (const id of ['deaf', 'streaming', 'idle']) agents.push(await world.agent(id));
      for (const agent of agents.slice(0, 2)) {
        await agent.followup(prompt('a'));
        await agent.followup(prompt('b'));
      }
      const closing = registry.closeAll();
      expect(registry.closeAll()).to.equal(closing);
      await closing;
      for (const id of ['deaf', 'streaming']) {
        expect(world.ends(id)).to.deep.equal([disposed]);
        expect(world.balance(id).cancelled).to.have.lengthOf(1);
      }
      expect(world.heard('idle')).to.deep.equal([]);
      expect(registry.list()).to.deep.equal([]);
      expect(world.repository.open.size).to.equal(0);
      expect(await rejection(registry.open(INIT))).to.have.property('code', 'RUNTIME_CLOSING');
      for (const agent of agents) {
        expect(await rejection(agent.followup(prompt('c')))).to.have.property('code', 'AGENT_DISPOSED');
      }
      await world.close();
    });

    it('waits for creations and closes what they made', async () => {
      const created = new Deferred<void>();
      world.repository.beforeCreate = () => created.promise;
      const opening = registry.open(INIT);
      const closing = registry.closeAll();
      created.resolve();
      const agent = await opening;
      await closing;
      expect(await rejection(agent.followup(prompt('a')))).to.have.property('code', 'AGENT_DISPOSED');
      expect(world.repository.open.size).to.equal(0);
      await world.close();
    });

    it('closes every session although one cannot be saved, and says which failed', async () => {
      for (const id of ['good', 'bad']) await world.ran(['a'], id);
      world.repository.beforeAppend = (_, id) => {
        if (id === 'bad') throw new Error('disk full');
      };
      registry.get('bad')?.session.append('session/title', { title: 't', messageSeqs: [], source: { kind: 'user' } });
      const failure = await rejection(registry.closeAll());
      expect(failure).to.be.instanceOf(AggregateError);
      expect((failure as AggregateError).errors.map(String)).to.match(/session "bad" cannot be written/);
      expect((failure as AggregateError).errors).to.have.lengthOf(1);
      expect(world.repository.open.size).to.equal(0);
    });

    it('is what the end of the runtime scope does', async () => {
      world.model.replies.push((request) => hangs(request));
      const agent = await world.agent();
      await agent.followup(prompt('a'));
      await world.scope.close();
      expect(world.ends()).to.deep.equal([disposed]);
      expect(world.balance().ends).to.deep.equal(['aborted']);
    });
  });
});
