import { CodedError, describeError } from '../base/index.js';
import { type ConfiguredModule, violationsOf } from '../kernel/index.js';
import { interpolate, type Surroundings, UnsetVariableError } from './interpolate.js';
import type { ModuleSource } from './module-source.js';
import type { Profile, Row } from './profile.js';

/** A row whose module was found and whose config was judged. */
export interface ComposedRow {
  readonly row: Row;
  readonly module: ConfiguredModule;
}

/** What a profile comes to. */
export interface Composition {
  /** Enabled rows, in order. */
  readonly rows: readonly ComposedRow[];
  /** Optional rows that cannot be loaded, and why, a line each. */
  readonly skipped: readonly string[];
}

/**
 * Finds the module of every enabled row and judges its config.
 *
 * @param onRow hears which row comes next
 * @throws CodedError `INVALID_PROFILE` naming every broken row and what is wrong with it, all at once
 */
export async function compose(
  profile: Profile,
  modules: ModuleSource,
  surroundings: Surroundings,
  onRow: (row: Row) => void = () => undefined,
): Promise<Composition> {
  const rows: ComposedRow[] = [];
  const skipped: string[] = [];
  const broken: string[] = [];
  const seen = new Set<string>();
  for (const row of profile.rows) {
    if (row.disabled === true) continue;
    onRow(row);
    try {
      if (seen.has(row.id)) throw new Error('another row has the same id');
      seen.add(row.id);
      const definition = await modules.find(row);
      const config = interpolate(row.config ?? {}, surroundings);
      rows.push({ row, module: await definition.configure(config) });
    } catch (thrown) {
      (row.optional === true ? skipped : broken).push(...problemsOf(row, profile, thrown));
    }
  }
  if (broken.length > 0) {
    throw new CodedError('INVALID_PROFILE', `profile ${JSON.stringify(profile.name)}: ${broken.join('; ')}`);
  }
  return { rows, skipped };
}

/** Each with the file that is to blame, where it was a file. */
function problemsOf(row: Row, profile: Profile, thrown: unknown): readonly string[] {
  const history = profile.history?.get(row.id);
  const said = (path: string, problem: string): string => {
    const source = history?.sourceOf(path);
    const file = source === undefined || source === profile.name || !/[\\/]/.test(source) ? '' : `${source}: `;
    return `${file}row ${JSON.stringify(row.id)}: ${problem}`;
  };
  const violations = violationsOf(thrown);
  if (violations !== undefined) {
    return violations.map(({ path, message }) =>
      said(path === '' ? 'config' : `config.${path}`, path === '' ? message : `${path}: ${message}`),
    );
  }
  if (thrown instanceof UnsetVariableError) return [said(`config.${thrown.path}`, thrown.message)];
  return [said('module', describeError(thrown))];
}
