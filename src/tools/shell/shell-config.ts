import { IsInt, IsOptional, IsString, Matches, Max, Min } from 'class-validator';
import { Describe } from '../../kernel/index.js';

/** Config of a persistent shell's row. */
export class ShellConfig {
  @Describe('How long one command may run, in milliseconds.')
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  readonly timeoutMs: number = 300_000;

  @Describe('How much of a command’s output the model is shown, in UTF-16 units.')
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  readonly maxOutputChars: number = 16_000;

  @Describe('What the model is told of the tool, in place of the built-in text.')
  @IsOptional()
  @IsString()
  @Matches(/\S/, { message: 'description must not be blank' })
  readonly description?: string;
}
