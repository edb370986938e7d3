import { setImmediate as nextTick } from 'node:timers/promises';
import { expect } from 'chai';
import type { Agent } from '../../src/agent/index.js';
import { Deferred } from '../../src/base/index.js';
import { StoreFailedError } from '../../src/session/index.js';
import { AgentWorld, prompt } from '../support/agent-world.js';
import { fails, hangs, says } from '../support/fake-model.js';
import { untilAborted } from '../support/fake-tools.js';
import { readLog } from '../support/read-log.js';
import { rejectionOf } from '../support/rejection-of.js';

const CALLS = ['c-1', 'c-2'].map((id) => ({ id, name: 'echo' }));
const FULL = new Error('disk full');

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('agent with a store that fails', () => {
  let world: AgentWorld;
  let agent: Agent;
  beforeEach(async () => {
    world = await AgentWorld.create();
    agent = await world.agent();
  });
  afterEach(() => world.close());

  const fail = (): void => {
    world.repository.beforeAppend = () => {
      throw FULL;
    };
  };
  const heal = (): void => {
    world.repository.beforeAppend = () => undefined;
  };
  async function stored(): Promise<readonly unknown[]> {
    await world.registry.get('s')?.session.save();
    return (await readLog(world.repository, 's')).events;
  }
  const events = () => world.heard().flatMap((item) => ('event' in item ? [item.event] : []));

  it('refuses a prompt that cannot be stored, and runs nothing', async () => {
    fail();
    const failure = await rejectionOf(agent.followup(prompt('a', 'a')));
    expect(failure).to.be.instanceOf(StoreFailedError);
    expect(failure).to.have.property('message', 'session "s" cannot be written from event 0 on: disk full');
    expect(world.outline()).to.deep.equal(['agent/inbox/spliced', 'agent/inbox/spliced']);
    expect(world.balance().cancelled).to.deep.equal(['a']);
    heal();
  });

  it('refuses the next prompt without an event while the retry fails, and takes it once it succeeds', async () => {
    fail();
    await rejectionOf(agent.followup(prompt('a')));
    const before = events().length;
    for (const verb of ['followup', 'steer', 'inject'] as const) {
      expect(await rejectionOf(agent[verb](prompt('b')))).to.be.instanceOf(StoreFailedError);
    }
    expect(events()).to.have.lengthOf(before);
    heal();
    await world.ran(['c']);
    expect(world.ends()).to.deep.equal([{ kind: 'completed' }]);
    expect(await stored()).to.deep.equal(events());
  });

  it('keeps the order of prompts that are sent at once after a failure', async () => {
    fail();
    await rejectionOf(agent.followup(prompt('a')));
    heal();
    await Promise.all(['b', 'c', 'd'].map((id) => agent.followup(prompt(id, id))));
    await agent.whenIdle();
    expect(world.balance().claimed).to.deep.equal(['b', 'c', 'd']);
  });

  it('does not call the model when the request cannot be stored', async () => {
    world.react = (event) => {
      if (event.type === 'request/context') fail();
    };
    await agent.followup(prompt('a'));
    await agent.whenIdle();
    expect(world.model.requests).to.deep.equal([]);
    const message = 'session "s" cannot be written from event 1 on: disk full';
    expect(world.ends()).to.deep.equal([{ kind: 'error', error: { code: 'STORE_FAILED', message } }]);
    expect(world.outline().slice(-4)).to.deep.equal(['request/context', 'step/end', 'turn/end', 'idle']);
    heal();
  });

  it('does not run a tool whose call cannot be stored; all calls are answered', async () => {
    world.model.replies.push(() => says({ calls: CALLS }));
    world.react = (event) => {
      if (event.type === 'tool/call') fail();
    };
    await agent.followup(prompt('a'));
    await agent.whenIdle();
    expect(world.tools.started).to.deep.equal([]);
    expect(world.events('tool/result').map((event) => event.data.error?.code)).to.deep.equal([
      'ABORTED_BEFORE_DISPATCH',
      'ABORTED_BEFORE_DISPATCH',
    ]);
    expect(world.ends()).to.have.nested.property('[0].error.code', 'STORE_FAILED');
    heal();
    world.react = () => undefined;
    await world.ran(['b']);
    expect(world.ends()).to.have.lengthOf(2);
    expect(await stored()).to.deep.equal(events());
  });

  it('aborts a stream, and a tool, that run when a write fails', async () => {
    world.model.replies.push((request) => hangs(request, { type: 'block-start', index: 0, blockType: 'text' }));
    world.react = (event) => {
      if (event.type === 'assistant/chunk') fail();
    };
    await agent.followup(prompt('a'));
    await agent.whenIdle();
    expect(world.ends()).to.have.nested.property('[0].error.code', 'STORE_FAILED');

    heal();
    world.react = () => undefined;
    world.model.replies.push(() => says({ calls: CALLS }));
    world.tools.body = (_, signal) => {
      fail();
      void agent.session.append('session/title', { title: 't', messageSeqs: [], source: { kind: 'user' } });
      return untilAborted(signal);
    };
    await agent.followup(prompt('b'));
    await agent.whenIdle();
    expect(world.ends()).to.have.nested.property('[1].error.code', 'STORE_FAILED');
    expect(world.events('tool/result').map((event) => event.data.error?.code)).to.deep.equal([
      'ABORTED',
      'ABORTED_BEFORE_DISPATCH',
    ]);
    heal();
  });

  it('ends every queued prompt instead of parking it', async () => {
    world.model.replies.push((request) => hangs(request));
    for (const id of ['a', 'b', 'c']) await agent.followup(prompt(id, id));
    fail();
    expect(await rejectionOf(agent.followup(prompt('d', 'd')))).to.be.instanceOf(StoreFailedError);
    await agent.whenIdle();
    expect(world.balance()).to.deep.include({ claimed: ['a', 'b', 'c'], cancelled: ['d'], pending: [] });
    expect(world.ends().map((reason) => reason.kind)).to.deep.equal(['error', 'error', 'error']);
    expect(world.model.requests).to.have.lengthOf(1);
    heal();
  });

  it('leaves room for others between turns that fail at once', async () => {
    world.model.otherwise = () => fails('AUTH', 'no');
    let others = 0;
    let timer = setImmediate(function count() {
      others += 1;
      timer = setImmediate(count);
    });
    const seen: number[] = [];
    world.react = ({ type }) => {
      if (type === 'turn/end') seen.push(others);
    };
    await Promise.all(['a', 'b', 'c', 'd'].map((text) => agent.followup(prompt(text))));
    await agent.whenIdle();
    clearImmediate(timer);
    expect(seen).to.have.lengthOf(4);
    expect(new Set(seen).size).to.equal(4);
  });

  it('lets the first of cancel and failure name the end', async () => {
    world.model.replies.push((request) => hangs(request));
    await agent.followup(prompt('a'));
    agent.cancel({ kind: 'user' });
    fail();
    await rejectionOf(agent.followup(prompt('b')));
    await agent.whenIdle();
    expect(world.ends()).to.deep.equal([{ kind: 'aborted', reason: { kind: 'user' } }]);
    heal();
  });

  it('neither claims nor wakes for a message before an asynchronous store has it', async () => {
    await agent.inject(prompt('early', 'early'));
    const written = new Deferred<void>();
    world.repository.beforeAppend = () => written.promise;
    const receipt = agent.followup(prompt('a', 'a'));
    await turn();
    expect(world.outline()).to.deep.equal(['agent/inbox/spliced', 'agent/inbox/spliced']);
    heal();
    written.resolve();
    await receipt;
    await agent.whenIdle();
    expect(world.balance().claimed).to.deep.equal(['early', 'a']);
  });

  it('does not run a message that an asynchronous store refuses while a turn goes on to the next', async () => {
    world.model.replies.push(async function* () {
      await turn();
      yield* says({ text: 'one' });
    });
    await agent.followup(prompt('a', 'a'));
    while (world.model.requests.length === 0) await nextTick();
    let refuse = (): void => undefined;
    world.repository.beforeAppend = () => {
      heal();
      return new Promise((_, reject) => {
        refuse = () => reject(FULL);
      });
    };
    const refused = rejectionOf(agent.followup(prompt('b', 'b')));
    world.react = (event) => {
      if (event.type === 'turn/end') setImmediate(refuse);
    };
    expect(await refused).to.be.instanceOf(StoreFailedError);
    await agent.whenIdle();
    expect(world.balance()).to.deep.include({ claimed: ['a'], cancelled: ['b'] });
  });

  for (const kind of ['a synchronous', 'an asynchronous'] as const) {
    it(`survives a refusal at any write of a tool turn, once or for a while, in ${kind} store`, async () => {
      await world.close();
      let writes = Number.POSITIVE_INFINITY;
      for (let at = 0; at < writes; at += 1) {
        for (const length of [1, 3]) {
          world = await AgentWorld.create();
          const own = await world.agent();
          writes = 0;
          world.repository.beforeAppend = () => {
            const refused = writes >= at && writes < at + length;
            writes += 1;
            if (kind === 'an asynchronous') return turn().then(() => (refused ? Promise.reject(FULL) : undefined));
            if (refused) throw FULL;
          };
          world.model.otherwise = ({ messages }) => says(messages.length > 1 ? { text: 'done' } : { calls: CALLS });
          const ids = ['a', 'b'];
          const receipts = await Promise.all(
            ids.map((id) => own.followup(prompt(id, id)).catch((error: unknown) => error)),
          );
          await own.whenIdle();
          const { claimed, cancelled, pending } = world.balance();
          expect(pending).to.deep.equal([]);
          // Refused with its event taken back, or before there was one.
          expect(ids.filter((_, index) => receipts[index] !== undefined)).to.include.members([...cancelled]);
          expect(claimed).to.deep.equal(ids.filter((_, index) => receipts[index] === undefined));
          for (const reason of world.ends()) {
            if (reason.kind === 'error') expect(reason.error.code).to.equal('STORE_FAILED');
            else expect(reason.kind).to.equal('completed');
          }
          heal();
          await world.ran(['last']);
          expect(world.ends().at(-1)).to.deep.equal({ kind: 'completed' });
          expect(await stored()).to.deep.equal(events());
          await world.close();
        }
      }
      world = await AgentWorld.create();
    });
  }
});
