import { CodedError, errorCode } from '../base/index.js';

const ADMISSION_CODES = [
  'TOO_MANY_IMAGES',
  'IMAGES_TOO_LARGE',
  'UNSUPPORTED_IMAGE_TYPE',
  'INVALID_IMAGE_BASE64',
  'INVALID_IMAGE',
  'IMAGE_TYPE_MISMATCH',
  'IMAGE_TOO_LARGE',
  'IMAGE_TOO_MANY_PIXELS',
  'IMAGE_DIMENSION_TOO_LARGE',
] as const;

/** Why images are not taken (core §2.5). */
export type ImageAdmissionCode = (typeof ADMISSION_CODES)[number];

/** What is wrong with the images of a message; nothing of it was stored. */
export class ImageAdmissionError extends CodedError {
  override readonly name = 'ImageAdmissionError';

  /** @param imageIndex the image at fault, from 0; undefined when it is their number or sum */
  constructor(
    code: ImageAdmissionCode,
    message: string,
    readonly imageIndex?: number,
  ) {
    super(code, message);
  }
}

/** By its code: a store of another copy of this package throws that copy's class. */
export function isImageAdmissionError(thrown: unknown): thrown is ImageAdmissionError {
  return thrown instanceof Error && ADMISSION_CODES.some((code) => code === errorCode(thrown));
}
