import { fstatSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type ModuleDefinition, Scope, Startable } from '../../src/kernel/index.js';
import { Logger } from '../../src/logging/index.js';
import { sessionPersistenceModule } from '../../src/session/files/session-persistence.module.js';
import { SessionRepository, SessionStore } from '../../src/session/index.js';
import { memorySessionModule } from '../../src/session/memory-session.module.js';
import { sessionModule } from '../../src/session/session.module.js';
import { sessionTitleModule } from '../../src/session/session-title.module.js';
import { useFsFaults } from '../support/fs-faults.js';
import { readLog } from '../support/read-log.js';
import { RecordingLogger } from '../support/recording-logger.js';
import { rejectionOf } from '../support/rejection-of.js';
import { tick } from '../support/session-world.js';
import { useTempDir } from '../support/temp-dir.js';

async function booted(...modules: readonly (readonly [ModuleDefinition, (object | undefined)?])[]): Promise<Scope> {
  const scope = Scope.root('test');
  scope.provide(Logger, new RecordingLogger());
  for (const [module, config] of modules) {
    const { runtime } = await module.configure(config);
    if (runtime !== undefined) await scope.load(runtime);
  }
  scope.resolveAll();
  for (const startable of scope.all(Startable)) await startable.start?.();
  return scope;
}

describe('session modules', () => {
  const dir = useTempDir();
  const faults = useFsFaults();

  it('carry the names that profiles use', () => {
    const modules = [sessionModule, sessionTitleModule, sessionPersistenceModule, memorySessionModule];
    expect(modules.map(({ name }) => name)).to.deep.equal([
      'session',
      'session-title',
      'session-persistence-jsonl',
      'session-persistence-memory',
    ]);
  });

  const stores: readonly (readonly [string, ModuleDefinition, () => object | undefined])[] = [
    ['files', sessionPersistenceModule, () => ({ root: dir.path })],
    ['memory', memorySessionModule, () => undefined],
  ];
  for (const [name, module, config] of stores) {
    it(`make sessions that are stored in ${name} when the scope closes`, async () => {
      const scope = await booted([sessionModule], [module, config()]);
      const session = await scope.get(SessionStore).open({ id: 's', cwd: '/ws' });
      tick(session);
      await scope.close();
      expect((await readLog(scope.get(SessionRepository), 's')).events).to.have.length(1);
    });
  }

  it('fail the boot when the root of the files is no directory', async () => {
    const root = join(dir.path, 'file');
    writeFileSync(root, '');
    const failure = await rejectionOf(booted([sessionPersistenceModule, { root }]));
    expect(failure.message).to.equal(`session root ${root} is not a directory`);
  });

  it('let checkpoints wait for the disk where the config says so', async () => {
    const scope = await booted([sessionModule], [sessionPersistenceModule, { root: dir.path, durability: 'disk' }]);
    let synced = 0;
    faults.inject('fsync', (real) => (fd: number, done: (error: Error | null) => void) => {
      if (fstatSync(fd).isFile()) synced += 1;
      real(fd, done);
    });
    const session = await scope.get(SessionStore).open({ id: 's', cwd: '/ws' });
    tick(session);
    expect(session.checkpoint()).to.be.instanceOf(Promise);
    expect(synced).to.equal(0);
    await session.checkpoint();
    expect(synced).to.equal(1);
    await scope.close();
  });
});
