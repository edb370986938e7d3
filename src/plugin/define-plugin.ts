import { defineModule, type ModuleDefinition, type ModuleSpec } from '../kernel/index.js';

/**
 * Makes a plugin: a module that somebody else ships. Its contract is {@link defineModule}'s; contribute by binding to a
 * contribution point, in the runtime's scope or in each session's.
 */
export function definePlugin<C extends object = Record<string, never>>(spec: ModuleSpec<C>): ModuleDefinition {
  return defineModule(spec);
}
