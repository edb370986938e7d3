import { ContainerModule } from 'inversify';
import { AttachmentStore } from '../attachment/index.js';
import { CurrentScope, defineModule, Environment, type Scope } from '../kernel/index.js';
import { ConfiguredPriceTable } from './configured-price-table.js';
import { ContributedAdapterRegistry } from './contributed-adapter-registry.js';
import { DEEPSEEK_PROVIDER, DeepSeekAdapter } from './deepseek/deepseek-adapter.js';
import { DeepSeekConfigDto } from './deepseek/deepseek-config.js';
import { DefaultAdapter } from './default-adapter.js';
import { ModelConfigDto } from './model-config.js';
import { PriceTable } from './prices.js';
import { AdapterRegistry } from './registry.js';

/** Provides {@link AdapterRegistry} and {@link PriceTable}. Consumes `ModelAdapter`s, and `AttachmentStore` if there is one. */
export const modelModule = defineModule({
  name: 'llm',
  config: ModelConfigDto,
  runtime: ({ prices }) =>
    new ContainerModule(({ bind }) => {
      bind(AdapterRegistry).to(ContributedAdapterRegistry);
      bind(PriceTable).toConstantValue(new ConfiguredPriceTable(prices));
      bind(DefaultAdapter).toResolvedValue(
        (scope: Scope, attachments: AttachmentStore | undefined, env: Environment | undefined) => ({
          provider: DEEPSEEK_PROVIDER,
          create: () => new DeepSeekAdapter(new DeepSeekConfigDto(), scope, attachments, env),
        }),
        [
          CurrentScope,
          { serviceIdentifier: AttachmentStore, optional: true },
          { serviceIdentifier: Environment, optional: true },
        ],
      );
    }),
});
