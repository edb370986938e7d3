import { expect } from 'chai';
import { ContainerModule, inject, injectable } from 'inversify';
import { Deferred } from '../../src/base/index.js';
import { Scope } from '../../src/kernel/index.js';
import { Logger } from '../../src/logging/index.js';
import { NotificationListener, Notifications, SessionRepository, SessionStore } from '../../src/session/index.js';
import { sessionModule } from '../../src/session/session.module.js';
import { FakeRepository } from '../support/fake-repository.js';
import { RecordingLogger } from '../support/recording-logger.js';
import { nextTick, SessionWorld, tick } from '../support/session-world.js';

describe('ListenerNotifications', () => {
  it('tells every listener in binding order, each of what it wants to hear', async () => {
    const heard: string[] = [];
    const world = await SessionWorld.withFake([
      { sessionEvent: (session, { type }) => void heard.push(`1 ${session.id} ${type}`) },
      { sessionStatus: (id, status) => void heard.push(`2 ${id} ${status}`) },
      { sessionEvent: (_, event, json) => void heard.push(`3 ${JSON.stringify(event) === json}`) },
    ]);
    tick(await world.create());
    world.notifications.sessionStatus('s', 'running');
    expect(heard).to.deep.equal(['1 s session/end-seed', '3 true', '2 s running']);
  });

  it('contains throws and rejections: siblings hear, the event stands, the failure is told once', async () => {
    const heard: number[] = [];
    const world = await SessionWorld.withFake([
      {
        sessionEvent: () => {
          throw new Error('boom');
        },
        sessionStatus: () => {
          throw new Error('boom');
        },
      },
      { sessionEvent: () => Promise.reject(new Error('late')) },
      { sessionEvent: (_, { seq }) => void heard.push(seq) },
    ]);
    const session = await world.create();
    tick(session);
    tick(session);
    await session.pressure;
    await nextTick();
    world.notifications.sessionStatus('s', 'running');
    expect(heard).to.deep.equal([0, 1]);
    expect(session.pressure).to.equal(undefined);
    expect(world.logger.messages('error')).to.have.length(2);
  });

  it('is behind until the slowest listener has caught up', async () => {
    const [fast, slow] = [new Deferred<void>(), new Deferred<void>()];
    const world = await SessionWorld.withFake([
      { sessionEvent: () => slow.promise },
      { sessionEvent: () => undefined },
      { sessionEvent: () => fast.promise },
    ]);
    const session = await world.create();
    tick(session);
    const order: string[] = [];
    const caughtUp = session.pressure?.then(() => order.push('caught up'));
    fast.resolve();
    await nextTick();
    order.push('slow');
    slow.resolve();
    await caughtUp;
    expect(order).to.deep.equal(['slow', 'caught up']);
  });

  it('lets a listener depend on services that depend on it', async () => {
    const heard: string[] = [];
    @injectable()
    class Projection implements NotificationListener {
      constructor(@inject(SessionStore) private readonly store: SessionStore) {}
      sessionStatus(id: string): void {
        heard.push(`${id} ${this.store.get(id)?.nextSeq}`);
      }
    }
    const scope = Scope.root('test');
    scope.provide(Logger, new RecordingLogger());
    scope.provide(SessionRepository, new FakeRepository());
    const { runtime } = await sessionModule.configure(undefined);
    if (runtime !== undefined) await scope.load(runtime);
    await scope.load(new ContainerModule(({ bind }) => void bind(NotificationListener).to(Projection)));
    scope.resolveAll();
    await scope.get(SessionStore).open({ id: 's', cwd: '/ws' });
    scope.get(Notifications).sessionStatus('s', 'running');
    expect(heard).to.deep.equal(['s 0']);
    await scope.close();
  });

  it('reports listeners that cannot be made, and goes on without', async () => {
    const scope = Scope.root('test');
    const logger = new RecordingLogger();
    scope.provide(Logger, logger);
    scope.provide(SessionRepository, new FakeRepository());
    const { runtime } = await sessionModule.configure(undefined);
    if (runtime !== undefined) await scope.load(runtime);
    await scope.load(
      new ContainerModule(({ bind }) => {
        bind(NotificationListener).toDynamicValue(() => {
          throw new Error('no such device');
        });
      }),
    );
    tick(await scope.get(SessionStore).open({ id: 's', cwd: '/ws' }));
    expect(logger.messages('error')).to.deep.equal(['notification listeners could not be made']);
    await scope.close();
  });
});
