import { expect } from 'chai';
import { Deferred } from '../../src/base/index.js';
import type { SessionEvent } from '../../src/protocol/index.js';
import type { NotificationListener, Session, SessionParticipant } from '../../src/session/index.js';
import { rejectionOf } from '../support/rejection-of.js';
import { human, nextTick, SessionWorld, tick } from '../support/session-world.js';

function participant(name: string, committed: SessionParticipant['committed']): SessionParticipant {
  return { name, committed };
}

function title(session: Session, text: string): SessionEvent {
  return session.append('session/title', { title: text, messageSeqs: [], source: { kind: 'user' } });
}

describe('LiveSession', () => {
  it('numbers events from 0 without gaps, past refused ones', async () => {
    const world = await SessionWorld.withFake();
    const session = await world.create();
    expect(session.nextSeq).to.equal(0);
    expect(tick(session).seq).to.equal(0);
    const before = session.messages();
    expect(() => session.append('turn/start', { turn: Number.NaN })).to.throw('data.turn is NaN');
    expect(() => session.append('user/message', human('x'))).to.throw('surfaceOp is mandatory');
    expect(session.nextSeq).to.equal(1);
    expect(session.messages()).to.deep.equal(before);
    expect(tick(session).seq).to.equal(1);
    await session.close();
    expect(await world.storedEvents()).to.have.length(2);
  });

  it('detaches and freezes what it is given', async () => {
    const session = await (await SessionWorld.withFake()).create();
    const message = structuredClone(human('before'));
    const event = session.append('user/message', message, { surfaceOp: 'append' });
    (message.content[0] as { text: string }).text = 'after';
    expect(event.data).to.deep.equal(human('before'));
    const [derived] = session.messages();
    expect(() => {
      (derived as { id: string }).id = 'x';
    }).to.throw(TypeError);
    (session.messages() as unknown[]).length = 0;
    expect(session.messages()).to.have.length(1);
  });

  it('has one text for store and wire, of just the event', async () => {
    const heard: [SessionEvent, string][] = [];
    const world = await SessionWorld.withFake([{ sessionEvent: (_, event, json) => void heard.push([event, json]) }]);
    const session = await world.create();
    session.append('user/message', human('台 \ud83d\u2028'), { surfaceOp: 'append' });
    tick(session);
    world.store.flush();
    const stored = world.repository.stored.get('s')?.lines.map(({ json }) => json);
    expect(heard.map(([, json]) => json)).to.deep.equal(stored);
    for (const [event, json] of heard) expect(JSON.parse(json)).to.deep.equal(event);
  });

  it('commits before it publishes, and publishes before participants hear', async () => {
    const order: string[] = [];
    const world = await SessionWorld.withFake([
      { sessionEvent: (session, event) => void order.push(`wire ${event.seq}, next ${session.nextSeq}`) },
    ]);
    const session = await world.create();
    session.join([participant('p', (event) => order.push(`participant ${event.seq}`))]);
    tick(session);
    expect(order).to.deep.equal(['wire 0, next 1', 'participant 0']);
  });

  it('lets a participant append: committed and heard by all in order before the outer append returns', async () => {
    const wire: string[] = [];
    const world = await SessionWorld.withFake([{ sessionEvent: (_, { type }) => void wire.push(type) }]);
    const session = await world.create();
    const first: string[] = [];
    const second: string[] = [];
    session.join([
      participant('first', ({ type }) => {
        first.push(type);
        if (type !== 'session/end-seed') return;
        expect(title(session, 'a').seq).to.equal(1);
        session.append('turn/start', { turn: 1 });
      }),
    ]);
    session.join([participant('second', ({ type }) => second.push(type))]);
    tick(session);
    const all = ['session/end-seed', 'session/title', 'turn/start'];
    expect(wire).to.deep.equal(all);
    expect(first).to.deep.equal(all);
    expect(second).to.deep.equal(all);
    expect(session.lastTurn).to.equal(1);
  });

  it('contains a participant that throws, and tells of it once', async () => {
    const world = await SessionWorld.withFake();
    const session = await world.create();
    const heard: number[] = [];
    const throwing = participant('bad', () => {
      throw new Error('boom');
    });
    session.join([throwing, participant('good', ({ seq }) => heard.push(seq))]);
    tick(session);
    tick(session);
    expect(heard).to.deep.equal([0, 1]);
    expect(world.logger.messages('error')).to.have.length(1);
    expect(world.logger.records[0]?.fields).to.include({ participant: 'bad', sessionId: 's' });
  });

  it('refuses an append from inside a listener of the same session, and takes one to another', async () => {
    const errors: unknown[] = [];
    let other: Session | undefined;
    const listener: NotificationListener = {
      sessionEvent: (session) => {
        if (session === other) return;
        if (other !== undefined) tick(other);
        try {
          tick(session);
        } catch (thrown) {
          errors.push(thrown);
        }
      },
    };
    const world = await SessionWorld.withFake([listener]);
    const session = await world.create('one');
    other = await world.create('other');
    tick(session);
    expect(errors).to.have.length(1);
    expect(errors[0]).to.have.property('code', 'REENTRANT_APPEND');
    expect([session.nextSeq, other.nextSeq]).to.deep.equal([1, 1]);
    tick(other);
    expect(other.nextSeq).to.equal(2);
  });

  for (const [first, last] of [
    [1, 2],
    [2, 1],
  ] as const) {
    it(`is under pressure until every consumer has caught up, the one of event ${first} first`, async () => {
      const behind = [undefined, new Deferred<void>(), new Deferred<void>()];
      const world = await SessionWorld.withFake([{ sessionEvent: (_, { seq }) => behind[seq]?.promise }]);
      const session = await world.create();
      tick(session);
      expect(session.pressure).to.equal(undefined);
      for (let seq = 1; seq <= 3; seq += 1) tick(session);
      const { pressure } = session;
      behind[first]?.resolve();
      await nextTick();
      expect(session.pressure).to.equal(pressure).and.to.be.instanceOf(Promise);
      behind[last]?.resolve();
      await pressure;
      expect(session.pressure).to.equal(undefined);
    });
  }

  it('refuses appends once closing began, stores what it had, and closes its log once', async () => {
    const world = await SessionWorld.withFake();
    const session = await world.create();
    tick(session);
    const closing = session.close();
    expect(() => tick(session))
      .to.throw('is closed')
      .with.property('code', 'SESSION_CLOSED');
    expect(session.close()).to.equal(closing);
    await closing;
    expect(await world.storedEvents()).to.have.length(1);
    expect([...world.repository.open]).to.deep.equal([]);
    expect(world.store.get('s')).to.equal(undefined);
  });

  for (const [options, asIs] of [
    [undefined, false],
    [{ asIs: false }, false],
    [{ asIs: true }, true],
  ] as const) {
    it(`closes its log ${asIs ? 'as it is' : 'packed'} when it is closed with ${JSON.stringify(options)}`, async () => {
      const world = await SessionWorld.withFake();
      const session = await world.create();
      tick(session);
      await session.close(options);
      expect(world.repository.closed).to.deep.equal([{ id: 's', asIs }]);
    });
  }

  it('reports a store that refuses to the end, and releases the log and the id all the same', async () => {
    const world = await SessionWorld.withFake();
    const session = await world.create();
    world.repository.beforeAppend = () => {
      throw new Error('disk full');
    };
    tick(session);
    const failure = await rejectionOf(session.close());
    expect(failure).to.have.property('code', 'STORE_FAILED');
    expect([...world.repository.open]).to.deep.equal([]);
    expect(world.store.get('s')).to.equal(undefined);
  });
});
