import { IsOptional, IsString } from 'class-validator';

/** Config of the offline row. */
export class OfflineConfigDto {
  /** File that the model `script` plays, relative to the runtime's directory; empty or absent: there is none. */
  @IsOptional()
  @IsString()
  readonly script?: string;
}
