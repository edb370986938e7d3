import { ContainerModule } from 'inversify';
import { CurrentScope, defineModule } from '../kernel/index.js';
import { ContributedAdapterRegistry } from './contributed-adapter-registry.js';
import { DEEPSEEK_PROVIDER, DeepSeekAdapter } from './deepseek/deepseek-adapter.js';
import { DeepSeekConfigDto } from './deepseek/deepseek-config.js';
import { DefaultAdapter } from './default-adapter.js';
import { AdapterRegistry } from './registry.js';

/** Provides {@link AdapterRegistry}. Consumes `ModelAdapter`s. */
export const modelModule = defineModule({
  name: 'llm',
  runtime: new ContainerModule(({ bind }) => {
    bind(AdapterRegistry).to(ContributedAdapterRegistry);
    bind(DefaultAdapter).toResolvedValue(
      (scope) => ({
        provider: DEEPSEEK_PROVIDER,
        create: () => new DeepSeekAdapter(new DeepSeekConfigDto(), scope),
      }),
      [CurrentScope],
    );
  }),
});
