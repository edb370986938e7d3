import { IsString } from 'class-validator';

/** Config of the system prompt's row. */
export class SystemPromptConfig {
  /** Who the model is told to be: a template. Blank leaves the section out. */
  @IsString()
  readonly persona: string =
    'You are a software engineer working in a real workspace: look before you change anything, do the work with the tools you have, check the result, and say plainly what you did and what you could not do.';
}
