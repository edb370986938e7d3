import { ContainerModule } from 'inversify';
import { defineModule } from '../kernel/index.js';
import { MemorySessionRepository } from './memory-session-repository.js';
import { SessionRepository } from './repository.js';

/** Provides `SessionRepository` in memory: nothing outlives the process. */
export const memorySessionModule = defineModule({
  name: 'session-persistence-memory',
  runtime: new ContainerModule(({ bind }) => {
    bind(SessionRepository).to(MemorySessionRepository);
  }),
});
