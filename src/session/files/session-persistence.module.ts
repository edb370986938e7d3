import { ContainerModule } from 'inversify';
import { defineModule, Startable } from '../../kernel/index.js';
import { SessionRepository } from '../repository.js';
import { FileSessionConfig } from './file-session-config.js';
import { FileSessionRepository } from './file-session-repository.js';

/** Provides `SessionRepository` as JSONL files. Contributes a `Startable` that refuses a root it cannot use. */
export const sessionPersistenceModule = defineModule({
  name: 'session-persistence-jsonl',
  config: FileSessionConfig,
  runtime: (config) =>
    new ContainerModule(({ bind }) => {
      bind(FileSessionConfig).toConstantValue(config);
      bind(FileSessionRepository).toSelf();
      bind(SessionRepository).toService(FileSessionRepository);
      bind(Startable).toService(FileSessionRepository);
    }),
});
