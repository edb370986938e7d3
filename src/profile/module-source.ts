import { CodedError } from '../base/index.js';
import type { ModuleDefinition } from '../kernel/index.js';
import { catalog } from './catalog.js';
import type { Row } from './profile.js';

/** Finds the module that a row names. */
export interface ModuleSource {
  /** @throws Error saying what was looked for, and where */
  find(row: Row): ModuleDefinition | Promise<ModuleDefinition>;
}

/**
 * The shipped modules, then those of the caller, then plugins: files and packages, seen from whoever names them. What
 * loads plugins is loaded with the first of them.
 */
export class ProfileModules implements ModuleSource {
  readonly #own: ReadonlyMap<string, ModuleDefinition>;

  /**
   * @param own further modules that rows can name
   * @throws CodedError `MODULE_EXISTS` two have one name, or one has the name of a shipped module: no row could name it
   */
  constructor(own: readonly ModuleDefinition[] = []) {
    const known = new Map<string, ModuleDefinition>();
    for (const module of own) {
      if (catalog.has(module.name) || known.has(module.name)) {
        throw new CodedError('MODULE_EXISTS', `there is a module ${JSON.stringify(module.name)} already`);
      }
      known.set(module.name, module);
    }
    this.#own = known;
  }

  find(row: Row): ModuleDefinition | Promise<ModuleDefinition> {
    return catalog.get(row.module) ?? this.#own.get(row.module) ?? this.#plugin(row);
  }

  async #plugin(row: Row): Promise<ModuleDefinition> {
    const { loadPlugin } = await import('./plugin-loader.js');
    return loadPlugin(row.module, row.from);
  }
}
