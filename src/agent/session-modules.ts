import type { ContainerModule } from 'inversify';
import { serviceId } from '../kernel/index.js';

/** The session part of one loaded module. */
export interface SessionModule {
  /** Names the module when its part cannot be loaded. */
  readonly name: string;
  readonly module: ContainerModule;
}

/** Runtime scope, provided by whoever loads the modules: loaded into every session's scope, in row order. */
export type SessionModules = readonly SessionModule[];
/** Optional: without it a session's scope has nothing but what the runtime binds. */
export const SessionModules = serviceId<SessionModules>('SessionModules');
