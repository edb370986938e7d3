import type { ServiceIdentifier } from 'inversify';
import { bindingsOf } from '../kernel/index.js';
import { catalog } from './catalog.js';

/** Names of the shipped modules that bind this service with their default config: advice for who misses it. */
export async function shippedProviders(token: ServiceIdentifier): Promise<readonly string[]> {
  const names: string[] = [];
  for (const [name, definition] of catalog) {
    try {
      const { runtime } = await definition.configure({});
      if (runtime !== undefined && (await bindingsOf(runtime)).bound.includes(token)) names.push(name);
    } catch {
      // One that needs a config is nobody's default.
    }
  }
  return names;
}
