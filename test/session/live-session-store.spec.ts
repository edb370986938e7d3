import { expect } from 'chai';
import { Deferred } from '../../src/base/index.js';
import type { Durability, Session, SessionLog } from '../../src/session/index.js';
import { FakeRepository } from '../support/fake-repository.js';
import { rejectionOf } from '../support/rejection-of.js';
import { nextTick, SessionWorld, tick } from '../support/session-world.js';

/** A store of its own pace: every append waits to be settled by the test. */
class SlowRepository extends FakeRepository {
  readonly appends: { readonly seqs: readonly number[]; readonly done: Deferred<void> }[] = [];
  override beforeAppend = (batch: readonly { readonly seq: number }[]): Promise<void> => {
    const done = new Deferred<void>();
    this.appends.push({ seqs: batch.map(({ seq }) => seq), done });
    return done.promise;
  };
  get batches(): readonly (readonly number[])[] {
    return this.appends.map(({ seqs }) => seqs);
  }
}

function recordBatches(world: SessionWorld): number[][] {
  const batches: number[][] = [];
  world.repository.beforeAppend = (batch) => void batches.push(batch.map(({ seq }) => seq));
  return batches;
}

function failing(world: SessionWorld): { heal(): void } {
  world.repository.beforeAppend = () => {
    throw new Error('disk full');
  };
  return {
    heal: () => {
      world.repository.beforeAppend = () => undefined;
    },
  };
}

describe('LiveSessionStore', () => {
  describe('open', () => {
    it('claims the id while it opens, and while it is live', async () => {
      const world = await SessionWorld.withFake();
      const [first, second] = await Promise.allSettled([world.create(), world.create()]);
      expect(first.status).to.equal('fulfilled');
      expect(second).to.have.nested.property('reason.code', 'SESSION_LIVE');
      expect(await rejectionOf(world.create())).to.have.property('code', 'SESSION_LIVE');
      expect(world.store.get('s')).to.equal((first as PromiseFulfilledResult<Session>).value);
    });

    it('gives the id back when opening fails, and when a session without events closes', async () => {
      const world = await SessionWorld.withFake();
      world.repository.beforeCreate = () => {
        throw new Error('unreachable');
      };
      expect(await rejectionOf(world.create())).to.have.property('message', 'unreachable');
      world.repository.beforeCreate = () => undefined;
      await (await world.create()).close();
      await (await world.create()).close();
    });

    it('makes a header of format 0', async () => {
      const before = Date.now();
      const { header } = await (await SessionWorld.withFake()).create('id');
      const { createdAt, ...rest } = header;
      expect(rest).to.deep.equal({ type: 'session', version: 0, id: 'id', cwd: '/ws', delegationDepth: 0 });
      expect(createdAt).to.be.within(before, Date.now());
    });

    const refused: readonly (readonly [string, unknown])[] = [
      ['empty', ''],
      ['over 1,024 bytes', 'x'.repeat(1025)],
      ['over 1,024 bytes of UTF-8', '台'.repeat(342)],
      ['ill-formed', 'a\ud800b'],
      ['no string', null],
    ];
    for (const [name, id] of refused) {
      it(`refuses an id that is ${name} (J1, J2)`, async () => {
        const world = await SessionWorld.withFake();
        const failure = await rejectionOf(world.create(id as string));
        expect(failure).to.have.property('code', 'INVALID_SESSION_ID');
      });
    }

    for (const id of [
      '../../x',
      'a/b',
      'CON',
      '.',
      'a\0b\n',
      '台',
      '🔥',
      'constructor',
      '__proto__',
      'x'.repeat(1024),
    ]) {
      it(`takes ${JSON.stringify(id).slice(0, 20)} as an id (G10, J1, J2)`, async () => {
        const world = await SessionWorld.withFake();
        tick(await world.create(id));
        await world.scope.close();
        expect(await world.storedEvents(id)).to.have.length(1);
      });
    }
  });

  describe('flush', () => {
    it('writes what a tick appended in one batch a session, synchronously', async () => {
      const world = await SessionWorld.withFake();
      const batches = recordBatches(world);
      const [one, two] = [await world.create('one'), await world.create('two')];
      tick(one);
      tick(two);
      tick(one);
      expect(world.store.flush()).to.equal(undefined);
      expect(batches).to.deep.equal([[0, 1], [0]]);
      expect(world.store.flush()).to.equal(undefined);
      expect(batches).to.have.length(2);
    });

    it('happens by itself at the end of the tick, with what microtasks appended', async () => {
      const world = await SessionWorld.withFake();
      const batches = recordBatches(world);
      const session = await world.create();
      tick(session);
      await Promise.resolve();
      tick(session);
      await nextTick();
      expect(batches).to.deep.equal([[0, 1]]);
    });

    it('waits for an asynchronous store, which gets one append at a time, in order', async () => {
      const repository = new SlowRepository();
      const world = await SessionWorld.over({ repository });
      const session = await world.create();
      tick(session);
      const first = world.store.flush();
      tick(session);
      tick(session);
      const second = world.store.flush();
      tick(session);
      expect(repository.batches).to.deep.equal([[0]]);
      repository.appends[0]?.done.resolve();
      await first;
      await nextTick();
      expect(repository.batches).to.deep.equal([[0], [1, 2, 3]]);
      let isSettled = false;
      void Promise.resolve(second).then(() => {
        isSettled = true;
      });
      await nextTick();
      expect(isSettled).to.equal(false);
      repository.appends[1]?.done.resolve();
      await second;
      expect(repository.stored.get('s')?.lines.map(({ seq }) => seq)).to.deep.equal([0, 1, 2, 3]);
    });

    it('waits for a write that somebody else began', async () => {
      const repository = new SlowRepository();
      const world = await SessionWorld.over({ repository });
      const session = await world.create();
      tick(session);
      const saved = session.save();
      const flushed = world.store.flush();
      expect(flushed).to.be.instanceOf(Promise);
      repository.appends[0]?.done.resolve();
      await saved;
      await flushed;
      expect(world.store.flush()).to.equal(undefined);
    });
  });

  describe('when the store refuses', () => {
    it('marks the session unsaved from the first lost event, tells of it once, and throws nothing', async () => {
      const world = await SessionWorld.withFake();
      const session = await world.create();
      tick(session);
      world.store.flush();
      const heard: unknown[] = [];
      session.onStoreFailed((failure) => heard.push(failure));
      failing(world);
      tick(session);
      tick(session);
      expect(world.store.flush()).to.equal(undefined);
      tick(session);
      world.store.flush();
      await nextTick();
      expect(session.storeFailure).to.include({ code: 'STORE_FAILED', firstLostSeq: 1 });
      expect(session.storeFailure?.message).to.contain('event 1').and.contain('disk full');
      expect(heard).to.deep.equal([session.storeFailure]);
      expect(world.logger.messages('error')).to.have.length(1);
    });

    it('keeps everything and retries it in order on the next save, not before', async () => {
      const world = await SessionWorld.withFake();
      const session = await world.create();
      const store = failing(world);
      tick(session);
      expect(() => session.save())
        .to.throw('disk full')
        .with.property('firstLostSeq', 0);
      tick(session);
      expect(() => session.checkpoint()).to.throw('disk full');
      store.heal();
      world.store.flush();
      await nextTick();
      expect(session.storeFailure).to.have.property('firstLostSeq', 0);
      tick(session);
      expect(session.save()).to.equal(undefined);
      expect(session.storeFailure).to.equal(undefined);
      tick(session);
      world.store.flush();
      expect((await world.storedEvents()).map(({ seq }) => seq)).to.deep.equal([0, 1, 2, 3]);
    });

    it('tells again when it fails again after a recovery, and no one who unsubscribed', async () => {
      const world = await SessionWorld.withFake();
      const session = await world.create();
      const heard: number[] = [];
      session.onStoreFailed(() => {
        throw new Error('listener');
      });
      session.onStoreFailed(({ firstLostSeq }) => heard.push(firstLostSeq));
      const unsubscribe = session.onStoreFailed(() => heard.push(-1));
      unsubscribe();
      for (let round = 0; round < 2; round += 1) {
        const store = failing(world);
        tick(session);
        world.store.flush();
        store.heal();
        session.save();
      }
      expect(heard).to.deep.equal([0, 1]);
    });

    it('lets a listener append: the event waits with the others', async () => {
      const world = await SessionWorld.withFake();
      const session = await world.create();
      session.onStoreFailed(() => tick(session));
      const store = failing(world);
      tick(session);
      world.store.flush();
      store.heal();
      session.save();
      expect((await world.storedEvents()).map(({ seq }) => seq)).to.deep.equal([0, 1]);
    });

    it('does not keep other sessions from their store', async () => {
      const world = await SessionWorld.withFake();
      const [bad, good] = [await world.create('bad'), await world.create('good')];
      world.repository.beforeAppend = (_, id) => {
        if (id === 'bad') throw new Error('disk full');
      };
      tick(bad);
      tick(good);
      world.store.flush();
      expect(bad.storeFailure).to.not.equal(undefined);
      expect(good.storeFailure).to.equal(undefined);
      expect(await world.storedEvents('good')).to.have.length(1);
    });

    it('holds for an asynchronous store: flush fulfils, save rejects, order is kept', async () => {
      const repository = new SlowRepository();
      const world = await SessionWorld.over({ repository });
      const session = await world.create();
      tick(session);
      const flushed = world.store.flush();
      tick(session);
      const saved = rejectionOf(Promise.resolve(session.save()));
      repository.appends[0]?.done.reject(new Error('remote is gone'));
      await flushed;
      await nextTick();
      repository.appends[1]?.done.reject(new Error('remote is gone'));
      expect(await saved).to.have.property('firstLostSeq', 0);
      expect(world.logger.messages('error')).to.have.length(1);
      const again = session.save();
      tick(session);
      await nextTick();
      repository.appends[2]?.done.resolve();
      await again;
      await nextTick();
      repository.appends[3]?.done.resolve();
      await world.store.flush();
      expect(repository.batches).to.deep.equal([[0], [0, 1], [0, 1], [2]]);
      expect(session.storeFailure).to.equal(undefined);
    });
  });

  describe('checkpoint', () => {
    const withDurability = async (durability: Durability, sync: () => Promise<void>): Promise<Session> => {
      const repository = new FakeRepository();
      const create = repository.create.bind(repository);
      repository.create = async (header): Promise<SessionLog> => ({ ...(await create(header)), durability, sync });
      return (await SessionWorld.over({ repository })).create();
    };

    it('is synchronous where the kernel is enough', async () => {
      const session = await withDurability('kernel', () => Promise.reject(new Error('not asked')));
      tick(session);
      expect(session.checkpoint()).to.equal(undefined);
    });

    it('waits for the sync where the disk is asked for', async () => {
      const synced = new Deferred<void>();
      const session = await withDurability('disk', () => synced.promise);
      tick(session);
      const order: string[] = [];
      const checkpoint = Promise.resolve(session.checkpoint()).then(() => order.push('checkpoint'));
      await nextTick();
      order.push('synced');
      synced.resolve();
      await checkpoint;
      expect(order).to.deep.equal(['synced', 'checkpoint']);
    });

    it('names the first event that a failed sync leaves unsafe', async () => {
      let fails = false;
      const session = await withDurability('disk', async () => {
        if (fails) throw new Error('EIO');
      });
      tick(session);
      await session.checkpoint();
      tick(session);
      fails = true;
      const failure = await rejectionOf(Promise.resolve(session.checkpoint()));
      expect(failure).to.include({ code: 'STORE_FAILED', firstLostSeq: 1 });
      expect(session.storeFailure).to.equal(undefined);
    });

    it('asks for a sync in the background at the end of each turn', async () => {
      let syncs = 0;
      const session = await withDurability('kernel', async () => {
        syncs += 1;
        throw new Error('EIO');
      });
      tick(session);
      session.save();
      expect(syncs).to.equal(0);
      session.append('turn/start', { turn: 1 });
      session.append('turn/end', { turn: 1, reason: { kind: 'completed' } });
      session.save();
      expect(syncs).to.equal(1);
      tick(session);
      session.save();
      expect(syncs).to.equal(1);
    });
  });

  describe('when its scope closes', () => {
    it('closes every session still live, whatever fails, and admits no more', async () => {
      const world = await SessionWorld.withFake();
      const sessions = [await world.create('a'), await world.create('b'), await world.create('c')];
      for (const session of sessions) tick(session);
      world.repository.beforeAppend = (_, id) => {
        if (id === 'b') throw new Error('disk full');
      };
      expect(String(await rejectionOf(world.scope.close()))).to.contain('sessions');
      expect([...world.repository.open]).to.deep.equal([]);
      expect(await world.storedEvents('a')).to.have.length(1);
      expect(await world.storedEvents('c')).to.have.length(1);
      expect(await rejectionOf(world.create('d'))).to.have.property('code', 'RUNTIME_CLOSING');
    });

    it('lets logs be packed while there is time, and has the others closed as they are', async () => {
      const world = await SessionWorld.withFake();
      const names = Array.from({ length: 7 }, (_, index) => `s${index}`);
      for (const name of names) tick(await world.create(name));
      const gate = new Deferred<void>();
      const allBegun = new Deferred<void>();
      world.repository.beforeClose = () => {
        if (world.repository.closed.length === names.length) allBegun.resolve();
        return gate.promise;
      };
      const closed = world.scope.close();
      await allBegun.promise;
      expect(world.repository.closed.map(({ asIs }) => asIs)).to.deep.equal([
        ...Array(4).fill(false),
        ...Array(3).fill(true),
      ]);
      for (const name of names) expect(await world.storedEvents(name)).to.have.length(1);
      gate.resolve();
      await closed;
    });

    it('waits for a session that is being opened', async () => {
      const world = await SessionWorld.withFake();
      const ready = new Deferred<void>();
      world.repository.beforeCreate = () => ready.promise;
      const creating = world.create();
      const closed = world.scope.close();
      ready.resolve();
      const session = await creating;
      await closed;
      expect([...world.repository.open]).to.deep.equal([]);
      expect(() => tick(session)).to.throw('is closed');
    });
  });
});
