import { expect } from 'chai';
import { CodedError, Deferred } from '../../src/base/index.js';
import type { SessionEvent } from '../../src/protocol/index.js';
import { type Session, SessionLeasedError, SessionStoredError } from '../../src/session/index.js';
import { rejectionOf } from '../support/rejection-of.js';
import { nextTick, SessionWorld, tick } from '../support/session-world.js';

const taken = (): never => {
  throw new CodedError('LEASE_LOST', 'taken');
};

/** A session with one stored event, and what its listeners hear. */
async function begun(): Promise<{ world: SessionWorld; session: Session; wire: SessionEvent[]; failures: unknown[] }> {
  const wire: SessionEvent[] = [];
  const world = await SessionWorld.withFake([{ sessionEvent: (_, event) => void wire.push(event) }]);
  const session = await world.create();
  tick(session);
  session.save();
  const failures: unknown[] = [];
  session.onStoreFailed((failure) => failures.push(failure));
  return { world, session, wire, failures };
}

describe('a session whose lease is lost', () => {
  it('looks before each checkpoint, and writes when it is held', async () => {
    const { world, session } = await begun();
    let asked = 0;
    world.repository.assertHeld = () => {
      asked += 1;
    };
    tick(session);
    expect(session.checkpoint()).to.equal(undefined);
    expect(asked).to.equal(1);
    expect(await world.storedEvents()).to.have.length(2);
    session.save();
    expect(asked).to.equal(1);
  });

  for (const [pace, assertHeld] of [
    ['at once', taken],
    ['later', async () => taken()],
  ] as const) {
    it(`drops what is pending, names the first lost event and tells of it once, when it hears ${pace}`, async () => {
      const { world, session, failures } = await begun();
      world.repository.assertHeld = assertHeld;
      world.repository.beforeAppend = (_, id) => {
        if (id === 's' && pace === 'later') throw new Error('not before the answer');
      };
      tick(session);
      const failure = await rejectionOf((async () => session.checkpoint())());
      expect(failure).to.include({ code: 'LEASE_LOST', firstLostSeq: 1, name: 'SessionLostError' });
      expect((failure as Error).message)
        .to.contain('event 1')
        .and.contain('taken');
      expect(failures.at(-1)).to.equal(failure);
      expect(session.storeFailure).to.equal(failure);
      world.repository.assertHeld = () => undefined;
      world.repository.beforeAppend = () => undefined;
      expect(() => session.checkpoint())
        .to.throw()
        .equal(failure);
      expect(() => session.save())
        .to.throw()
        .equal(failure);
      expect(await world.storedEvents()).to.have.length(1);
    });
  }

  it('still puts its events on the wire, and never in the store', async () => {
    const { world, session, wire, failures } = await begun();
    world.repository.assertHeld = taken;
    expect(() => session.checkpoint())
      .to.throw()
      .with.property('firstLostSeq', 1);
    tick(session);
    tick(session);
    await nextTick();
    world.store.flush();
    expect(() => session.save())
      .to.throw()
      .with.property('code', 'LEASE_LOST');
    expect(wire.map(({ seq }) => seq)).to.deep.equal([0, 1, 2]);
    expect(await world.storedEvents()).to.have.length(1);
    expect(failures).to.have.length(1);
    expect(world.logger.messages('error')).to.deep.equal(['session is lost']);
  });

  it('learns of it from a write, too', async () => {
    const { world, session, failures } = await begun();
    world.repository.beforeAppend = taken;
    tick(session);
    world.store.flush();
    expect(failures).to.have.length(1);
    expect(session.storeFailure).to.include({ code: 'LEASE_LOST', firstLostSeq: 1 });
    world.repository.beforeAppend = () => undefined;
    expect(() => session.save())
      .to.throw()
      .with.property('code', 'LEASE_LOST');
    expect(await world.storedEvents()).to.have.length(1);
  });

  const HOLDER = { pid: 7, host: 'elsewhere', startedAt: 0, heartbeatAt: 0 };
  for (const [cause, holder] of [
    [new SessionLeasedError('s', HOLDER), HOLDER],
    [new SessionStoredError('s'), undefined],
  ] as const) {
    it(`is lost from the start when somebody began it in the same moment: ${cause.code}`, async () => {
      const world = await SessionWorld.withFake();
      world.repository.beforeAppend = () => {
        throw cause;
      };
      const session = await world.create();
      tick(session);
      expect(() => session.save())
        .to.throw(cause.message)
        .with.property('code', 'LEASE_LOST');
      expect(session.storeFailure).to.include({ name: 'SessionLostError', firstLostSeq: 0, holder });
    });
  }

  it('stays lost when a write settles that was under way', async () => {
    for (const settle of ['resolve', 'reject'] as const) {
      const { world, session } = await begun();
      const done = new Deferred<void>();
      world.repository.beforeAppend = () => done.promise;
      tick(session);
      const flushed = world.store.flush();
      tick(session);
      world.repository.assertHeld = taken;
      expect(() => session.checkpoint())
        .to.throw()
        .with.property('code', 'LEASE_LOST');
      if (settle === 'resolve') done.resolve();
      else done.reject(new Error('EIO'));
      await flushed;
      await nextTick();
      expect(session.storeFailure).to.have.property('code', 'LEASE_LOST');
      expect(await world.storedEvents()).to.have.length(settle === 'resolve' ? 2 : 1);
    }
  });

  it('is lost even when it was unsaved before: what was kept is dropped', async () => {
    const { world, session, failures } = await begun();
    world.repository.beforeAppend = () => {
      throw new Error('disk full');
    };
    tick(session);
    world.store.flush();
    world.repository.beforeAppend = () => undefined;
    world.repository.assertHeld = taken;
    expect(() => session.checkpoint())
      .to.throw()
      .with.property('code', 'LEASE_LOST');
    expect(failures.map((failure) => (failure as CodedError).code)).to.deep.equal(['STORE_FAILED', 'LEASE_LOST']);
    await session.close();
    expect(await world.storedEvents()).to.have.length(1);
  });

  it('closes its log without throwing of the loss again', async () => {
    const { world, session } = await begun();
    world.repository.assertHeld = taken;
    world.repository.beforeClose = taken;
    expect(() => session.checkpoint()).to.throw();
    tick(session);
    await session.close();
    expect([...world.repository.open]).to.deep.equal([]);
    expect(world.store.get('s')).to.equal(undefined);
  });

  it('throws of other trouble in closing, and of a loss that nobody knew of, once', async () => {
    const known = await begun();
    known.world.repository.assertHeld = taken;
    expect(() => known.session.checkpoint()).to.throw();
    known.world.repository.beforeClose = () => {
      throw new Error('EIO');
    };
    expect(await rejectionOf(known.session.close())).to.have.property('message', 'EIO');
    const news = await begun();
    news.world.repository.beforeAppend = taken;
    news.world.repository.beforeClose = taken;
    tick(news.session);
    expect(await rejectionOf(news.session.close())).to.include({ code: 'LEASE_LOST', firstLostSeq: 1 });
  });

  it('is not taken for lost when the look itself fails: the checkpoint does, and the next may pass', async () => {
    const { world, session, failures } = await begun();
    world.repository.assertHeld = () => {
      throw new Error('EIO');
    };
    tick(session);
    expect(() => session.checkpoint())
      .to.throw('EIO')
      .include({ code: 'STORE_FAILED', firstLostSeq: 1 });
    expect([failures, session.storeFailure]).to.deep.equal([[], undefined]);
    world.repository.assertHeld = () => undefined;
    session.checkpoint();
    expect(await world.storedEvents()).to.have.length(2);
  });
});
