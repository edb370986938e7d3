import { ContainerModule } from 'inversify';
import { PromptSection, SystemPrompt } from '../../agent/index.js';
import { defineModule } from '../../kernel/index.js';
import { SectionedSystemPrompt } from './sectioned-system-prompt.js';
import { SystemPromptConfig } from './system-prompt-config.js';

/** Provides `SystemPrompt` and the sections `persona`, first, and `workspace`, last. */
export const systemPromptModule = defineModule({
  name: 'system-prompt',
  config: SystemPromptConfig,
  runtime: ({ persona }) =>
    new ContainerModule(({ bind }) => {
      bind(SystemPrompt).to(SectionedSystemPrompt);
      bind(PromptSection).toConstantValue({ name: 'persona', order: 0, text: persona });
      // What differs from workspace to workspace stands last, so that the prefix before it can be cached.
      bind(PromptSection).toConstantValue({ name: 'workspace', order: 10_200, text: 'Working directory: {{cwd}}' });
    }),
});
