import { ContainerModule } from 'inversify';
import { PromptSection, SystemPrompt } from '../../agent/index.js';
import { defineModule } from '../../kernel/index.js';
import { SectionedSystemPrompt } from './sectioned-system-prompt.js';
import { SystemPromptConfig } from './system-prompt-config.js';
import { fillTemplate } from './template.js';

/** What templates are judged with at boot: every variable has a value in each turn. */
const SAMPLE = { provider: 'provider', model: 'model', cwd: '/' };

/** Provides `SystemPrompt` and the sections `persona-prefix`, first, and `persona-suffix`, last. */
export const systemPromptModule = defineModule({
  name: 'system-prompt',
  config: SystemPromptConfig,
  runtime: ({ personaPrefix, personaSuffix }) =>
    new ContainerModule(({ bind }) => {
      for (const [key, template] of Object.entries({ personaPrefix, personaSuffix }))
        fillTemplate(key, template, SAMPLE);
      bind(SystemPrompt).to(SectionedSystemPrompt);
      bind(PromptSection).toConstantValue({ name: 'persona-prefix', order: 0, text: personaPrefix });
      bind(PromptSection).toConstantValue({ name: 'persona-suffix', order: 10_200, text: personaSuffix });
    }),
});
