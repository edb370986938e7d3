import { ContainerModule, type ServiceIdentifier } from 'inversify';
import { AttachmentStore } from '../../attachment/index.js';
import { CurrentScope, defineModule, Environment, type Scope, Startable } from '../../kernel/index.js';
import { ModelAdapter } from '../adapter.js';
import { OpenAiCompatibleAdapter } from './openai-compatible-adapter.js';
import { OpenAiCompatibleConfigDto } from './openai-compatible-config.js';

/**
 * Contributes the `ModelAdapter` of the provider that its row names, which is a `Startable` to be warmed up. Any number
 * of rows may name it, each for a provider of its own. Consumes `AttachmentStore`, if there is one.
 */
export const openAiCompatibleModule = defineModule({
  name: 'llm-openai-compatible',
  config: OpenAiCompatibleConfigDto,
  runtime: (config) =>
    new ContainerModule(({ bind }) => {
      const own: ServiceIdentifier<OpenAiCompatibleAdapter> = Symbol(`adapter of ${config.provider}`);
      bind<OpenAiCompatibleAdapter>(own).toResolvedValue(
        (scope: Scope, attachments: AttachmentStore | undefined, env: Environment | undefined) =>
          new OpenAiCompatibleAdapter(config, scope, attachments, env),
        [
          CurrentScope,
          { serviceIdentifier: AttachmentStore, optional: true },
          { serviceIdentifier: Environment, optional: true },
        ],
      );
      bind(ModelAdapter).toService(own);
      bind(Startable).toService(own);
    }),
});
