import { IsInt, Max, Min } from 'class-validator';
import { Describe } from '../../kernel/index.js';

/** Config of the editor's row. */
export class EditorConfig {
  @Describe('How much of a file or directory `view` shows, in UTF-16 units.')
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  readonly maxOutputChars: number = 16_000;
}
