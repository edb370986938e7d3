import { IsIn, IsNotEmpty, IsString } from 'class-validator';
import type { Durability } from './repository.js';

/** Config of the JSONL logs' row. */
export class FileSessionConfig {
  /** Directory of all session logs; made on demand, relative to the runtime's own directory. */
  @IsString()
  @IsNotEmpty()
  readonly root!: string;

  /** `kernel`: synced in the background, within 200 ms and at the end of a turn. `disk`: checkpoints wait for it. */
  @IsIn(['kernel', 'disk'])
  readonly durability: Durability = 'kernel';

  /** Plain lines are the only form that is written. */
  @IsIn(['none'])
  readonly compression: 'none' = 'none';
}
