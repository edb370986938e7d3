import { IsInt, Min } from 'class-validator';
import { Describe } from '../kernel/index.js';

/** Config of the titles' row: how long a title becomes that is cut from a prompt (core §4.8). */
export class SessionTitleConfig {
  @Describe('Words of a title that is cut from a prompt, at most.')
  @IsInt()
  @Min(1)
  readonly fallbackMaxWords: number = 5;

  @Describe('UTF-8; one code point takes up to 4.')
  @IsInt()
  @Min(4)
  readonly fallbackMaxBytes: number = 40;
}
