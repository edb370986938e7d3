import { describeError } from '../base/index.js';
import { bindingsOf, tokenName } from '../kernel/index.js';
import { catalog } from './catalog.js';
import { interpolate, type Surroundings } from './interpolate.js';
import type { ModuleSource } from './module-source.js';
import type { Profile, Row } from './profile.js';

/**
 * What the plugins of a profile replace, as remarks for its dump, by row id; of one that cannot be loaded, why. Shipped
 * modules replace nothing, and are not loaded.
 */
export async function remarksOf(
  { rows }: Profile,
  modules: ModuleSource,
  surroundings: Surroundings,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const plugins = rows.filter(({ module, disabled }) => disabled !== true && !catalog.has(module));
  const remarks = new Map<string, readonly string[]>();
  for (const row of plugins) remarks.set(row.id, await remarksOn(row, modules, surroundings));
  return remarks;
}

async function remarksOn(row: Row, modules: ModuleSource, surroundings: Surroundings): Promise<readonly string[]> {
  try {
    const definition = await modules.find(row);
    const { runtime } = await definition.configure(interpolate(row.config ?? {}, surroundings));
    if (runtime === undefined) return [];
    const { bound, rebound, unbound } = await bindingsOf(runtime);
    return [
      ...rebound.map((token) => `replaces ${tokenName(token)}`),
      ...unbound.map((token) => `${bound.includes(token) ? 'replaces' : 'unbinds'} ${tokenName(token)}`),
    ];
  } catch (thrown) {
    return [`cannot be loaded: ${describeError(thrown)}`];
  }
}
