import { ContainerModule } from 'inversify';
import { AttachmentStore } from '../../attachment/index.js';
import { CurrentScope, defineModule, Environment, type Scope, Startable } from '../../kernel/index.js';
import { ModelAdapter } from '../adapter.js';
import { DeepSeekAdapter } from './deepseek-adapter.js';
import { DeepSeekConfigDto } from './deepseek-config.js';

/**
 * Contributes the `ModelAdapter` of provider `deepseek-official`, which is a `Startable` to be warmed up. Consumes
 * `AttachmentStore`, if there is one.
 */
export const deepseekModule = defineModule({
  name: 'llm-deepseek',
  config: DeepSeekConfigDto,
  runtime: (config) =>
    new ContainerModule(({ bind }) => {
      bind(DeepSeekAdapter).toResolvedValue(
        (scope: Scope, attachments: AttachmentStore | undefined, env: Environment | undefined) =>
          new DeepSeekAdapter(config, scope, attachments, env),
        [
          CurrentScope,
          { serviceIdentifier: AttachmentStore, optional: true },
          { serviceIdentifier: Environment, optional: true },
        ],
      );
      bind(ModelAdapter).toService(DeepSeekAdapter);
      bind(Startable).toService(DeepSeekAdapter);
    }),
});
