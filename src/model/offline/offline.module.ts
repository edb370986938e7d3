import { ContainerModule } from 'inversify';
import { defineModule } from '../../kernel/index.js';
import { ModelAdapter } from '../adapter.js';
import { OfflineAdapter } from './offline-adapter.js';
import { OfflineConfigDto } from './offline-config.js';

/** Contributes the `ModelAdapter` of provider `offline`. */
export const offlineModule = defineModule({
  name: 'llm-offline',
  config: OfflineConfigDto,
  runtime: (config) =>
    new ContainerModule(({ bind }) => {
      bind(ModelAdapter).toResolvedValue(() => new OfflineAdapter(config), []);
    }),
});
