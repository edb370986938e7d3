import { IsObject, IsOptional, IsString, ValidateBy } from 'class-validator';
import { Describe } from '../../kernel/index.js';

/** Config of the offline row. Paths are relative to the runtime's directory. */
export class OfflineConfigDto {
  @Describe('File that the model `script` plays; empty or absent: there is none.')
  @IsOptional()
  @IsString()
  readonly script?: string;

  @Describe('Session log that the model `replay` plays; empty or absent: there is none.')
  @IsOptional()
  @IsString()
  readonly replay?: string;

  @Describe(
    'Recorded paths and what they are here; `${cwd}` in a value is the session’s workspace. That of the recorded session is mapped to it anyhow.',
  )
  @IsObject()
  @HasTextValues()
  readonly replayMap: Readonly<Record<string, string>> = {};
}

function HasTextValues(): PropertyDecorator {
  return ValidateBy({
    name: 'hasTextValues',
    validator: {
      validate: (value) => Object.values(value ?? {}).every((text) => typeof text === 'string'),
      defaultMessage: (args) => `each value of ${args?.property} must be a string`,
    },
  });
}
