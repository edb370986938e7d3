import { ContainerModule } from 'inversify';
import { CurrentScope, defineModule } from '../../kernel/index.js';
import { ModelAdapter } from '../adapter.js';
import { DeepSeekAdapter } from './deepseek-adapter.js';
import { DeepSeekConfigDto } from './deepseek-config.js';

/** Contributes the `ModelAdapter` of provider `deepseek-official`. */
export const deepseekModule = defineModule({
  name: 'llm-deepseek',
  config: DeepSeekConfigDto,
  runtime: (config) =>
    new ContainerModule(({ bind }) => {
      bind(ModelAdapter).toResolvedValue((scope) => new DeepSeekAdapter(config, scope), [CurrentScope]);
    }),
});
