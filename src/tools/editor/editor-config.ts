import { IsInt, Max, Min } from 'class-validator';

/** Config of the editor's row. */
export class EditorConfig {
  /** How much of a file or directory `view` shows, in UTF-16 units. */
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  readonly maxOutputChars: number = 16_000;
}
