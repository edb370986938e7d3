import { IsInt, IsNotEmpty, IsString, Min } from 'class-validator';
import { Describe } from '../kernel/index.js';

const MIB = 1024 * 1024;

/** What one message may bring (core §2.5). */
export interface ImageLimits {
  readonly maxImages: number;
  /** Bytes of all images of a message together. */
  readonly maxMessageBytes: number;
  readonly maxImageBytes: number;
  /** Width times height. */
  readonly maxPixels: number;
  /** Of width and of height, in pixels. */
  readonly maxSide: number;
}

/** Config of the image store's row; sizes are those of the decoded files. */
export class FileAttachmentConfig implements ImageLimits {
  @Describe('Directory of all images; made on demand, relative to the runtime’s own directory.')
  @IsString()
  @IsNotEmpty()
  readonly root!: string;

  @Describe('Images that one message may bring.')
  @IsInt()
  @Min(1)
  readonly maxImages: number = 20;

  @Describe('Bytes of all images of a message together.')
  @IsInt()
  @Min(1)
  readonly maxMessageBytes: number = 200 * MIB;

  @Describe('Bytes of one image.')
  @IsInt()
  @Min(1)
  readonly maxImageBytes: number = 20 * MIB;

  @Describe('Width times height of one image.')
  @IsInt()
  @Min(1)
  readonly maxPixels: number = 64_000_000;

  @Describe('Width and height of one image, in pixels, at most.')
  @IsInt()
  @Min(1)
  readonly maxSide: number = 8192;
}
