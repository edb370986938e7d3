import { expect } from 'chai';
import { assert, asyncProperty, nat } from 'fast-check';
import { CodedError, Deferred } from '../../src/base/index.js';
import type { SessionEvent } from '../../src/protocol/index.js';
import { type Session, type SessionHeader, SessionParticipant } from '../../src/session/index.js';
import { foldLog } from '../../src/session/session-fold.js';
import { sessionTitleModule } from '../../src/session/session-title.module.js';
import { FakeRepository } from '../support/fake-repository.js';
import { rejectionOf } from '../support/rejection-of.js';
import { runs } from '../support/runs.js';
import { anyMoves, ScriptPlayer } from '../support/session-script.js';
import { human, nextTick, SessionWorld, stateOf, tick } from '../support/session-world.js';

const HEADER: SessionHeader = { type: 'session', version: 0, id: 's', createdAt: 1, cwd: '/old', delegationDepth: 0 };

function header(session: Session, provider: string): void {
  const reason = session.hasOwnHeader ? 'change' : session.resumed ? 'resume' : 'initial';
  session.append('request/header', { header: { config: { provider, model: 'm' } }, reason });
}

/** A world whose session was interrupted in turn 1, step 1. */
async function interrupted(): Promise<{ world: SessionWorld; heard: SessionEvent[] }> {
  const heard: SessionEvent[] = [];
  const repository = new FakeRepository();
  const before = await SessionWorld.over({ repository });
  const session = await before.create();
  session.append('turn/start', { turn: 1 });
  session.append('step/start', { turn: 1, step: 1 });
  await session.close();
  const listeners = [{ sessionEvent: (_: Session, event: SessionEvent) => void heard.push(event) }];
  return { world: await SessionWorld.over({ repository, listeners }), heard };
}

describe('a stored session', () => {
  it('is the same when it is continued as when it was never left', async () => {
    await assert(
      asyncProperty(anyMoves, nat(7), async (moves, every) => {
        const [whole, parts] = [await SessionWorld.withFake(), await SessionWorld.withFake()];
        const uninterrupted = await whole.create();
        const straight = new ScriptPlayer(uninterrupted);
        const resuming = new ScriptPlayer(await parts.create());
        for (const [index, move] of moves.entries()) {
          straight.play(move);
          resuming.play(move);
          if (index % (every + 1) > 0 || !resuming.betweenTurns) continue;
          await resuming.session.close();
          resuming.session = await parts.create();
        }
        expect(stateOf(resuming.session)).to.deep.equal(stateOf(uninterrupted));
        await Promise.all([uninterrupted.close(), resuming.session.close()]);
        const untimed = (events: readonly SessionEvent[]) => events.map((event) => ({ ...event, time: 0 }));
        expect(untimed(await parts.storedEvents())).to.deep.equal(untimed(await whole.storedEvents()));
      }),
      runs(60),
    );
  });

  it('goes on counting events and turns, and stores only what is new', async () => {
    const world = await SessionWorld.withFake();
    const first = await world.create();
    expect(first.resumed).to.equal(false);
    first.append('turn/start', { turn: 1 });
    first.append('turn/end', { turn: 1, reason: { kind: 'completed' } });
    await first.close();
    const batches: number[][] = [];
    world.repository.beforeAppend = (batch) => void batches.push(batch.map(({ seq }) => seq));
    const session = await world.create();
    expect([session.resumed, session.nextSeq, session.lastTurn]).to.deep.equal([true, 2, 1]);
    expect(() => session.append('turn/start', { turn: 1 })).to.throw('must begin turn 2, not 1');
    expect(session.append('turn/start', { turn: 2 }).seq).to.equal(2);
    session.save();
    expect(batches).to.deep.equal([[2]]);
    expect(session.storeFailure).to.equal(undefined);
    world.repository.beforeAppend = () => {
      throw new Error('disk full');
    };
    tick(session);
    expect(() => session.save())
      .to.throw()
      .with.property('firstLostSeq', 3);
  });

  it('counts what it found as safe when a sync fails', async () => {
    const { world } = await interrupted();
    const resume = world.repository.resume.bind(world.repository);
    let synced = 0;
    world.repository.resume = async (id, visit) => {
      const { log, reading } = await resume(id, visit);
      const sync = async (): Promise<void> => {
        synced += 1;
        throw new Error('EIO');
      };
      return { reading, log: { ...log, durability: 'disk', sync } };
    };
    expect(await rejectionOf(world.create())).to.include({ code: 'STORE_FAILED', firstLostSeq: 2 });
    expect(synced).to.be.greaterThan(0);
  });

  it('has no header of its own until one is logged, of each reason once', async () => {
    const world = await SessionWorld.withFake();
    for (const reasons of [['initial'], ['initial', 'resume', 'change']]) {
      const session = await world.create();
      session.append('turn/start', { turn: session.lastTurn + 1 });
      const { requestHeader, hasOwnHeader } = session;
      expect(hasOwnHeader).to.equal(false);
      expect(requestHeader?.config.provider).to.equal(session.resumed ? 'p' : undefined);
      header(session, 'p');
      expect(session.hasOwnHeader).to.equal(true);
      if (session.resumed) header(session, 'q');
      session.append('turn/end', { turn: session.lastTurn, reason: { kind: 'completed' } });
      await session.close();
      const logged = (await world.storedEvents()).flatMap((event) =>
        event.type === 'request/header' ? event.data.reason : [],
      );
      expect(logged).to.deep.equal(reasons);
    }
  });

  it('keeps its pending inbox, but not what it inherited', async () => {
    const world = await SessionWorld.withFake();
    const session = await world.create();
    session.append('agent/inbox/spliced', { target: 'next-step', start: 0, inserted: [human('note')] });
    await session.close();
    expect((await world.create()).pendingInbox['next-step']).to.deep.equal([human('note')]);
    const lines = world.repository.stored.get('s')?.lines ?? [];
    world.repository.stored.set('fork', { header: { ...HEADER, id: 'fork', seedLength: 1 }, lines });
    const fork = await world.create('fork');
    expect(fork.pendingInbox).to.deep.equal({ 'next-turn': [], 'next-step': [] });
    expect(fork.header.seedLength).to.equal(1);
  });

  it('keeps its header, and says so where another directory was asked for', async () => {
    const world = await SessionWorld.withFake();
    const stored = {
      ...HEADER,
      parentSession: 'parent',
      delegationDepth: 2,
      seedLength: 0,
      origin: 'subagent',
    } as const;
    world.repository.stored.set('s', { header: stored, lines: [] });
    const session = await world.create();
    expect(session.header).to.deep.equal(stored);
    expect(session.resumed).to.equal(true);
    const record = world.logger.records.find(
      ({ message }) => message === 'session keeps the directory it was stored with',
    );
    expect(record?.fields).to.deep.include({ sessionId: 's', cwd: '/old', asked: '/ws' });
  });

  it('says when its end was cut off', async () => {
    const world = await SessionWorld.withFake();
    world.repository.stored.set('s', { header: { ...HEADER, cwd: '/ws' }, lines: [] });
    world.repository.condition = { kind: 'torn', where: 'log:3', problem: 'half a line', droppedBytes: 7 };
    await world.create();
    expect(world.logger.messages('warn')).to.deep.equal(['the end of a session log was cut off']);
    expect(world.logger.messages('info')).to.deep.equal([]);
  });

  it('is titled once in its life', async () => {
    const world = await SessionWorld.withFake();
    const { session: part } = await sessionTitleModule.configure(undefined);
    for (const text of ['first words', 'other words']) {
      const session = await world.create();
      const scope = world.scope.child('s');
      if (part !== undefined) scope.loadFenced(part, 'session-title');
      session.join(scope.all(SessionParticipant));
      session.append('user/message', human(text), { surfaceOp: 'append' });
      expect(session.title).to.equal('first words');
      await session.close();
    }
    expect((await world.storedEvents()).filter(({ type }) => type === 'session/title')).to.have.length(1);
  });

  it('is refused while it is live', async () => {
    const world = await SessionWorld.withFake();
    const session = await world.create();
    tick(session);
    session.save();
    expect(await rejectionOf(world.create())).to.have.property('code', 'SESSION_LIVE');
    await session.close();
    await world.create();
  });

  it('is refused with a defect that its events show, and frees the id', async () => {
    const world = await SessionWorld.withFake();
    const data = { target: 'next-turn', start: 1, inserted: [human('x')] };
    const lines = [{ seq: 0, json: JSON.stringify({ type: 'agent/inbox/spliced', seq: 0, time: 1, data }) }];
    world.repository.stored.set('s', { header: HEADER, lines });
    const failure = await rejectionOf(world.create());
    expect(failure).to.have.property('code', 'SESSION_DAMAGED');
    expect(failure).to.have.property('message', 'invalid persisted inbox splice at session seq 0');
    expect(world.store.get('s')).to.equal(undefined);
    world.repository.stored.delete('s');
    expect((await world.create()).resumed).to.equal(false);
  });

  describe('when another process is faster', () => {
    it('continues what that one has begun', async () => {
      const world = await SessionWorld.withFake();
      world.repository.beforeCreate = () => void world.repository.stored.set('s', { header: HEADER, lines: [] });
      expect((await world.create()).resumed).to.equal(true);
    });

    it('says so when the log can neither be begun nor found', async () => {
      const world = await SessionWorld.withFake();
      world.repository.stored.set('s', { header: HEADER, lines: [] });
      world.repository.find = async () => undefined;
      expect(await rejectionOf(world.create())).to.have.property('code', 'SESSION_STORED');
    });

    it('begins anew when that one deleted the log', async () => {
      const world = await SessionWorld.withFake();
      world.repository.stored.set('s', { header: HEADER, lines: [] });
      world.repository.find = async () => {
        world.repository.stored.clear();
        return undefined;
      };
      expect((await world.create()).resumed).to.equal(false);
    });

    it('looks once for a session that is new', async () => {
      const world = await SessionWorld.withFake();
      world.repository.find = () => expect.fail('it was looked for again');
      expect((await world.create()).resumed).to.equal(false);
    });

    it('is refused when that one holds the session', async () => {
      const world = await SessionWorld.withFake();
      world.repository.stored.set('s', { header: HEADER, lines: [] });
      world.repository.resume = () => Promise.reject(new CodedError('SESSION_LEASED', 'held'));
      expect(await rejectionOf(world.create())).to.have.property('code', 'SESSION_LEASED');
      expect(world.store.get('s')).to.equal(undefined);
    });
  });

  describe('that a crash left open', () => {
    it('is stored with its closing events before it opens, and before anybody hears of them', async () => {
      const { world, heard } = await interrupted();
      const stored = new Deferred<void>();
      world.repository.beforeAppend = () => stored.promise;
      const opening = world.create();
      await nextTick();
      expect([heard, world.store.get('s')]).to.deep.equal([[], undefined]);
      stored.resolve();
      const session = await opening;
      expect(heard.map(({ type, seq }) => `${type} ${seq}`)).to.deep.equal(['step/end 2', 'turn/end 3']);
      expect((await world.storedEvents()).slice(2)).to.deep.equal(heard);
      expect(session.nextSeq).to.equal(4);
      expect(foldLog(await world.storedEvents()).openTurn).to.equal(undefined);
    });

    it('is live for those who hear of its closing events', async () => {
      const { world } = await interrupted();
      const known: boolean[] = [];
      const again = await SessionWorld.over({
        repository: world.repository,
        listeners: [{ sessionEvent: (session) => void known.push(again.store.get('s') === session) }],
      });
      await again.create();
      expect(known).to.deep.equal([true, true]);
    });

    for (const point of ['beforeAppend', 'assertHeld'] as const) {
      it(`publishes nothing, closes the log and frees the id when ${point} fails`, async () => {
        const { world, heard } = await interrupted();
        world.repository[point] = () => {
          throw new Error('gone');
        };
        const failure = await rejectionOf(world.create());
        expect(failure).to.have.property('code', 'STORE_FAILED');
        expect(heard).to.deep.equal([]);
        expect([...world.repository.open]).to.deep.equal([]);
        expect(world.repository.closed.at(-1)).to.deep.equal({ id: 's', asIs: true });
        expect(world.store.get('s')).to.equal(undefined);
        expect(await world.storedEvents()).to.have.length(2);
        world.repository[point] = () => undefined;
        await world.create();
        expect(heard.map(({ type }) => type)).to.deep.equal(['step/end', 'turn/end']);
      });
    }

    it('does not close the log under a write', async () => {
      const { world } = await interrupted();
      const written = new Deferred<void>();
      world.repository.beforeAppend = () => written.promise;
      const asked = new Deferred<void>();
      world.repository.assertHeld = async () => {
        await asked.promise;
        throw new CodedError('LEASE_LOST', 'taken');
      };
      const before = world.repository.closed.length;
      const opening = rejectionOf(world.create());
      await nextTick();
      asked.resolve();
      await nextTick();
      expect(world.repository.closed).to.have.length(before);
      written.resolve();
      expect(await opening).to.have.property('code', 'LEASE_LOST');
      expect(world.repository.closed).to.have.length(before + 1);
    });

    it('reports a log that cannot be closed either, and throws the first failure', async () => {
      const { world } = await interrupted();
      const fail = (): never => {
        throw new Error('gone');
      };
      world.repository.beforeAppend = fail;
      world.repository.beforeClose = fail;
      expect(await rejectionOf(world.create())).to.have.property('code', 'STORE_FAILED');
      expect(world.logger.messages('error')).to.include('a log was not closed');
      expect(world.store.get('s')).to.equal(undefined);
    });
  });
});
