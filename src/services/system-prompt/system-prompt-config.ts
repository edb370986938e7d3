import { IsString } from 'class-validator';
import { Describe } from '../../kernel/index.js';

/** Config of the system prompt's row. Templates may name `{{provider}}`, `{{model}}` and `{{cwd}}`. */
export class SystemPromptConfig {
  @Describe('Who the model is told to be: a template, the first section. Blank leaves it out.')
  @IsString()
  readonly personaPrefix: string =
    'You are a software engineer working in a real workspace: look before you change anything, do the work with the tools you have, check the result, and say plainly what you did and what you could not do.';

  @Describe(
    'What differs from session to session: a template, the last section, so that what stands before can be cached.',
  )
  @IsString()
  readonly personaSuffix: string = 'Working directory: {{cwd}}';
}
