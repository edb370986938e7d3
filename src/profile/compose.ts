import { CodedError, describeError } from '../base/index.js';
import type { ConfiguredModule, ModuleDefinition } from '../kernel/index.js';
import { interpolate, type Surroundings } from './interpolate.js';
import type { Profile, Row } from './profile.js';

/** A row whose module was found and whose config was judged. */
export interface ComposedRow {
  readonly row: Row;
  readonly module: ConfiguredModule;
}

/**
 * Finds the module of every enabled row and judges its config.
 *
 * @throws CodedError `INVALID_PROFILE` naming every broken row and what is wrong with it, all at once
 */
export async function compose(
  profile: Profile,
  modules: ReadonlyMap<string, ModuleDefinition>,
  surroundings: Surroundings,
): Promise<readonly ComposedRow[]> {
  const composed: ComposedRow[] = [];
  const broken: string[] = [];
  const seen = new Set<string>();
  for (const row of profile.rows) {
    if (row.disabled === true) continue;
    try {
      if (seen.has(row.id)) throw new Error('another row has the same id');
      seen.add(row.id);
      const definition = modules.get(row.module);
      if (definition === undefined) throw new Error(`there is no module ${JSON.stringify(row.module)}`);
      const config = interpolate(row.config ?? {}, surroundings);
      composed.push({ row, module: await definition.configure(config) });
    } catch (thrown) {
      broken.push(`row ${JSON.stringify(row.id)}: ${describeError(thrown)}`);
    }
  }
  if (broken.length > 0) {
    throw new CodedError('INVALID_PROFILE', `profile ${JSON.stringify(profile.name)}: ${broken.join('; ')}`);
  }
  return composed;
}
