import { contributionPoint } from '../kernel/index.js';
import type { ModelAdapter } from './adapter.js';

/** Contribution point: a shipped adapter that the registry may mount with its default config (decision 9). */
export interface DefaultAdapter {
  readonly provider: string;
  /** Called at most once a registry, when the provider is first mounted. */
  create(): ModelAdapter;
}
/** Runtime scope; of several for one provider the first counts. */
export const DefaultAdapter = contributionPoint<DefaultAdapter>('DefaultAdapter');
