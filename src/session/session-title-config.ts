import { IsInt, Min } from 'class-validator';

export class SessionTitleConfig {
  @IsInt()
  @Min(1)
  readonly fallbackMaxWords: number = 5;

  /** UTF-8; one code point takes up to 4. */
  @IsInt()
  @Min(4)
  readonly fallbackMaxBytes: number = 40;
}
