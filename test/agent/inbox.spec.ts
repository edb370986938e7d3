import { expect } from 'chai';
import * as fc from 'fast-check';
import { Inbox, type QueuedMessage } from '../../src/agent/inbox.js';
import type { InboxTarget, UserMessage } from '../../src/protocol/index.js';
import type { Session } from '../../src/session/index.js';
import { AgentWorld, prompt } from '../support/agent-world.js';

const TARGETS: readonly InboxTarget[] = ['next-turn', 'next-step'];

describe('Inbox', () => {
  let world: AgentWorld;
  let session: Session;
  let inbox: Inbox;
  beforeEach(async () => {
    world = await AgentWorld.create();
    session = (await world.agent()).session;
    inbox = new Inbox(session);
  });
  afterEach(() => world.scope.close());

  const splices = () => world.events('agent/inbox/spliced').map((event) => event.data);
  const stored = (id: string): QueuedMessage => ({ message: prompt(id, id), wakes: true, stored: true });
  const idsOf = (messages: readonly UserMessage[]) => messages.map((message) => message.id);
  const drain = () => [...idsOf(inbox.claim('next-step')), ...claimTurns()];
  function claimTurns(): readonly string[] {
    const ids: string[] = [];
    while (inbox.hasClaimable) ids.push(...idsOf(inbox.claim('next-turn')));
    return ids;
  }

  it('splices as an array does, and its events fold to its lists', () => {
    const index = fc.oneof(fc.integer({ min: -8, max: 8 }), fc.constantFrom(Number.NaN, 1.7, -1.7, 1e12, -1e12));
    const op = fc.record({ target: fc.constantFrom(...TARGETS), start: index, count: index, inserted: fc.nat(3) });
    let next = 0;
    fc.assert(
      fc.property(fc.array(op, { maxLength: 12 }), (ops) => {
        inbox.clear();
        const model: Record<InboxTarget, string[]> = { 'next-turn': [], 'next-step': [] };
        const seen = splices().length;
        for (const { target, start, count, inserted } of ops) {
          const ids = Array.from({ length: inserted }, () => `m${next++}`);
          const before = session.nextSeq;
          const removed = inbox.splice(target, start, count, ids.map(stored));
          expect(idsOf(removed)).to.deep.equal(model[target].splice(start, count, ...ids));
          expect(session.nextSeq - before).to.equal(removed.length + inserted > 0 ? 1 : 0);
        }
        const folded: typeof model = { 'next-turn': [], 'next-step': [] };
        for (const data of splices().slice(seen)) {
          folded[data.target].splice(data.start, data.removedCount ?? 0, ...idsOf(data.inserted));
        }
        expect(folded).to.deep.equal(model);
        expect(drain()).to.deep.equal([...model['next-step'], ...model['next-turn']]);
      }),
    );
  });

  it('claims all of the next step and then one prompt at the start of a turn, later the next step only', () => {
    inbox.splice('next-turn', 0, 0, ['t1', 't2'].map(stored));
    inbox.splice('next-step', 0, 0, ['s1', 's2'].map(stored));
    expect(idsOf(inbox.claim('next-turn'))).to.deep.equal(['s1', 's2', 't1']);
    inbox.splice('next-step', 0, 0, [stored('s3')]);
    expect(idsOf(inbox.claim('next-step'))).to.deep.equal(['s3']);
    expect(splices().slice(2)).to.deep.equal([
      { target: 'next-step', start: 0, removedCount: 2, inserted: [] },
      { target: 'next-turn', start: 0, removedCount: 1, inserted: [] },
      { target: 'next-step', start: 0, inserted: [prompt('s3', 's3')] },
      { target: 'next-step', start: 0, removedCount: 1, inserted: [] },
    ]);
  });

  it('clears the next step, then the next turn, as cancelled', () => {
    inbox.splice('next-turn', 0, 0, ['t1', 't2'].map(stored));
    inbox.splice('next-step', 0, 0, [stored('s1')]);
    inbox.clear();
    expect(splices().slice(2)).to.deep.equal([
      { target: 'next-step', start: 0, removedCount: 1, inserted: [], outcome: 'canceled' },
      { target: 'next-turn', start: 0, removedCount: 2, inserted: [], outcome: 'canceled' },
    ]);
    inbox.clear();
    expect(splices()).to.have.lengthOf(4);
  });

  it('refuses an id that is here already, in either list, and is unchanged then', () => {
    inbox.splice('next-turn', 0, 0, [stored('a')]);
    for (const target of TARGETS) {
      expect(() => inbox.splice(target, 0, 0, [stored('b'), stored('a')]))
        .to.throw('message "a" is in the inbox already')
        .with.property('code', 'DUPLICATE_MESSAGE');
    }
    expect(splices()).to.have.lengthOf(1);
    expect(drain()).to.deep.equal(['a']);
    inbox.splice('next-turn', 0, 0, [stored('a')]);
    expect(drain()).to.deep.equal(['a']);
  });

  it('is unchanged when the event is refused', async () => {
    inbox.splice('next-turn', 0, 0, ['a', 'b'].map(stored));
    const broken = { ...prompt('c'), content: [{ type: 'text', text: 1n }] } as unknown as UserMessage;
    expect(() => inbox.splice('next-turn', 1, 1, [{ message: broken, wakes: true, stored: true }])).to.throw();
    expect(drain()).to.deep.equal(['a', 'b']);
  });

  it('counts a change before the splices that answer its event', () => {
    let answered = false;
    world.react = (event) => {
      if (event.type !== 'agent/inbox/spliced' || answered) return;
      answered = true;
      inbox.push('next-turn', prompt('answer', 'answer'), true).stored = true;
    };
    inbox.splice('next-turn', 0, 0, [stored('first')]);
    expect(splices().map((data) => data.start)).to.deep.equal([0, 1]);
    expect(drain()).to.deep.equal(['first', 'answer']);
  });

  it('keeps what the event holds, whatever the caller does to the message', () => {
    const message = prompt('before', 'm');
    inbox.push('next-turn', message, true).stored = true;
    Object.assign(message.content[0] ?? {}, { text: 'after' });
    expect(inbox.claim('next-turn')).to.deep.equal([prompt('before', 'm')]);
  });

  it('does not claim what is not stored yet', () => {
    inbox.splice('next-turn', 0, 0, [stored('a')]);
    const queued = inbox.push('next-turn', prompt('b', 'b'), true);
    expect(claimTurns()).to.deep.equal(['a']);
    expect(inbox.wakes).to.equal(false);
    queued.stored = true;
    expect(inbox.wakes).to.equal(true);
    expect(claimTurns()).to.deep.equal(['b']);
  });

  it('is woken by a steer and not by an injected message', () => {
    inbox.push('next-step', prompt('i'), false).stored = true;
    expect([inbox.wakes, inbox.hasNextStep, inbox.hasClaimable]).to.deep.equal([false, true, true]);
    inbox.push('next-step', prompt('s'), true).stored = true;
    expect(inbox.wakes).to.equal(true);
  });
});
