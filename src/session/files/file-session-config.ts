import { IsBoolean, IsIn, IsNotEmpty, IsString, ValidateBy } from 'class-validator';
import { Describe } from '../../kernel/index.js';
import type { Durability } from '../repository.js';
import { canWriteZstd, LOG_FORMS, type LogForm, ZSTD_NEEDS_NODE } from './log-compression.js';

/** Config of the JSONL logs' row. */
export class FileSessionConfig {
  @Describe('Directory of all session logs; made on demand, relative to the runtime’s own directory.')
  @IsString()
  @IsNotEmpty()
  readonly root!: string;

  @Describe(
    '`kernel`: synced in the background, within 200 ms and at the end of a turn. `disk`: checkpoints wait for it.',
  )
  @IsIn(['kernel', 'disk'])
  readonly durability: Durability = 'kernel';

  @Describe('What closed sessions are compressed with; live ones are plain, and every form is read.')
  @IsIn(LOG_FORMS)
  @IsWritable()
  readonly compression: LogForm = 'none';

  @Describe('Whether runs of chunks become rows when their session is closed: a tenth of the size.')
  @IsBoolean()
  readonly packChunks: boolean = true;
}

function IsWritable(): PropertyDecorator {
  return ValidateBy({
    name: 'isWritable',
    validator: {
      validate: (value) => value !== 'zstd' || canWriteZstd(),
      defaultMessage: () => ZSTD_NEEDS_NODE,
    },
  });
}
