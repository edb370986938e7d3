import { serviceId } from '../kernel/index.js';
import type { CallConfig } from '../protocol/index.js';
import type { ModelAdapter, ModelInfo, PreparedCall, ProviderInfo } from './adapter.js';

/** Which adapter serves which provider (core §5.1). */
export interface AdapterRegistry {
  /** In the order of registration. */
  providers(): readonly ProviderInfo[];
  /** @throws LlmError `NO_ADAPTER` */
  models(provider: string): readonly ModelInfo[];
  has(provider: string): boolean;
  /**
   * Claims all its providers or none; the returned function releases them.
   *
   * @throws LlmError `DUPLICATE_ADAPTER`, `INVALID_ADAPTER`
   */
  register(adapter: ModelAdapter): () => void;
  /**
   * Mounts the shipped adapter of a provider that nothing serves, with its default config (decision 9).
   *
   * @returns the release function, or undefined when the provider is served already or no adapter is shipped for it
   */
  mountDefault(provider: string): (() => void) | undefined;
  /**
   * Resolves a route. The returned call's stream never throws: failures are its last chunk, a `finish` of kind
   * `error` or `aborted`.
   *
   * @throws LlmError `NO_ADAPTER` with `no adapter registered for provider "x"`, and what {@link ModelAdapter.prepare} throws
   */
  prepare(config: CallConfig): PreparedCall;
}
/** Runtime scope; it begins with the {@link ModelAdapter}s that the rows contribute. */
export const AdapterRegistry = serviceId<AdapterRegistry>('AdapterRegistry');
