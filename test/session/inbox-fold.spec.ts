import { expect } from 'chai';
import type { SessionEventMap } from '../../src/protocol/index.js';
import type { Session } from '../../src/session/index.js';
import { foldLog } from '../../src/session/session-fold.js';
import { human, SessionWorld } from '../support/session-world.js';

type Splice = SessionEventMap['agent/inbox/spliced'];

const [a, b, c] = [human('a'), human('b'), human('c')];

/** `a`, `b` wait for the next turn, `c` for the next step. */
async function filled(world?: SessionWorld): Promise<Session> {
  const session = await (world ?? (await SessionWorld.withFake())).create();
  session.append('agent/inbox/spliced', { target: 'next-turn', start: 0, inserted: [a, b] });
  session.append('agent/inbox/spliced', { target: 'next-step', start: 0, inserted: [c] });
  return session;
}

describe('InboxFold', () => {
  it('holds what is pending, as copies', async () => {
    const session = await filled();
    expect(session.pendingInbox).to.deep.equal({ 'next-turn': [a, b], 'next-step': [c] });
    (session.pendingInbox['next-turn'] as unknown[]).length = 0;
    expect(session.pendingInbox['next-turn']).to.deep.equal([a, b]);
  });

  it('follows insertions, claims, cancellations and replacements', async () => {
    const session = await filled();
    const splice = (data: Splice): object => {
      session.append('agent/inbox/spliced', data);
      return session.pendingInbox;
    };
    const d = human('d');
    const inserted = splice({ target: 'next-turn', start: 1, inserted: [d] });
    expect(inserted).to.deep.equal({ 'next-turn': [a, d, b], 'next-step': [c] });
    const claimed = splice({ target: 'next-turn', start: 0, removedCount: 1, inserted: [] });
    expect(claimed).to.deep.equal({ 'next-turn': [d, b], 'next-step': [c] });
    const same = { ...d, content: [{ type: 'text', text: 'edited' }] } as const;
    const edit = { target: 'next-turn', start: 0, removedCount: 1, inserted: [same], outcome: 'canceled' } as const;
    expect(splice(edit)).to.deep.equal({ 'next-turn': [same, b], 'next-step': [c] });
    const cancelled = splice({ target: 'next-step', start: 0, removedCount: 1, inserted: [], outcome: 'canceled' });
    expect(cancelled).to.deep.equal({ 'next-turn': [same, b], 'next-step': [] });
    const again = splice({ target: 'next-step', start: 0, inserted: [a] });
    expect(again).to.deep.equal({ 'next-turn': [same, b], 'next-step': [a] });
  });

  const refused: readonly (readonly [string, object, string])[] = [
    ['an unknown list', { target: 'later', start: 0, inserted: [] }, 'target must be "next-turn" or "next-step"'],
    ['a list by an inherited name', { target: 'constructor', start: 0, inserted: [] }, 'target must be'],
    ['a start behind the end', { target: 'next-turn', start: 3, inserted: [] }, 'start must be 0 to 2'],
    ['a negative start', { target: 'next-turn', start: -1, inserted: [] }, 'start must be 0 to 2'],
    ['a fraction as start', { target: 'next-turn', start: 0.5, inserted: [] }, 'start must be 0 to 2'],
    ['no start', { target: 'next-turn', inserted: [] }, 'start must be 0 to 2'],
    [
      'too much to remove',
      { target: 'next-turn', start: 1, removedCount: 2, inserted: [] },
      'removedCount must be 0 to 1',
    ],
    ['less than nothing to remove', { target: 'next-turn', start: 1, removedCount: -1, inserted: [] }, 'removedCount'],
    ['nothing about insertions', { target: 'next-turn', start: 0 }, 'inserted must be a list of messages'],
    ['what is no message', { target: 'next-turn', start: 0, inserted: [{ id: 'x' }] }, 'inserted must be a list'],
    ['null', { target: 'next-turn', start: 0, inserted: [null] }, 'inserted must be a list of messages'],
    ['a message of the same list', { target: 'next-turn', start: 0, inserted: [b] }, 'inserts message "u-b"'],
    ['a message of the other list', { target: 'next-turn', start: 0, inserted: [c] }, 'inserts message "u-c"'],
    [
      'one message twice',
      { target: 'next-turn', start: 0, removedCount: 2, inserted: [a, a] },
      'inserts message "u-a", which is in the inbox already',
    ],
  ];
  for (const [name, data, problem] of refused) {
    it(`refuses ${name}, and changes nothing`, async () => {
      const session = await filled();
      expect(() => session.append('agent/inbox/spliced', data as Splice))
        .to.throw(`invalid event: agent/inbox/spliced: ${problem}`)
        .with.property('code', 'INVALID_EVENT');
      expect(session.pendingInbox).to.deep.equal({ 'next-turn': [a, b], 'next-step': [c] });
      expect(session.nextSeq).to.equal(2);
    });
  }

  it('leaves out what was inherited, valid or not', async () => {
    const world = await SessionWorld.withFake();
    const session = await filled(world);
    session.append('session/end-seed', {});
    session.append('agent/inbox/spliced', { target: 'next-turn', start: 2, inserted: [human('d')] });
    session.save();
    const events = await world.storedEvents();
    expect(() => foldLog(events, 3)).to.throw(/^invalid persisted inbox splice at session seq 3$/);
    const own = events.map((event) =>
      event.type === 'agent/inbox/spliced' && event.seq === 3 ? { ...event, data: { ...event.data, start: 0 } } : event,
    );
    expect(foldLog(own, 3).pendingInbox).to.deep.equal({ 'next-turn': [human('d')], 'next-step': [] });
    expect(foldLog(own, 4).pendingInbox).to.deep.equal({ 'next-turn': [], 'next-step': [] });
  });
});
