import { ContainerModule } from 'inversify';
import { CurrentScope, defineModule, Startable } from '../../kernel/index.js';
import { ModelAdapter } from '../adapter.js';
import { DeepSeekAdapter } from './deepseek-adapter.js';
import { DeepSeekConfigDto } from './deepseek-config.js';

/** Contributes the `ModelAdapter` of provider `deepseek-official`, which is a `Startable` to be warmed up. */
export const deepseekModule = defineModule({
  name: 'llm-deepseek',
  config: DeepSeekConfigDto,
  runtime: (config) =>
    new ContainerModule(({ bind }) => {
      bind(DeepSeekAdapter).toResolvedValue((scope) => new DeepSeekAdapter(config, scope), [CurrentScope]);
      bind(ModelAdapter).toService(DeepSeekAdapter);
      bind(Startable).toService(DeepSeekAdapter);
    }),
});
