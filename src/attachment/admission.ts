import { createHash } from 'node:crypto';
import type { ImageAttachmentRef, ImageMediaType } from '../protocol/index.js';
import type { InlineImage } from './attachment-store.js';
import { type ImageAdmissionCode, ImageAdmissionError } from './errors.js';
import type { ImageLimits } from './file-attachment-config.js';
import { readImageHeader } from './image-header.js';

/** An image that may be stored. */
export interface AdmittedImage {
  readonly reference: ImageAttachmentRef;
  readonly bytes: Buffer;
}

const MEDIA_TYPES: readonly string[] = [
  'image/png',
  'image/jpeg',
  'image/webp',
  'image/gif',
] satisfies ImageMediaType[];

/** Whether images of this kind can be stored. */
export function isImageMediaType(value: unknown): value is ImageMediaType {
  return typeof value === 'string' && MEDIA_TYPES.includes(value);
}

/** The content address of an image: `sha256:` and 64 hex digits. */
export function attachmentIdOf(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

/**
 * Judges the images of a message (core §2.5): their number, their sum, then one after the other its declared type,
 * its base64, its header, its size.
 *
 * @throws ImageAdmissionError for the first rule that is broken
 */
export async function admitImages(
  images: readonly InlineImage[],
  limits: ImageLimits,
): Promise<readonly AdmittedImage[]> {
  const { maxImages, maxMessageBytes } = limits;
  if (images.length > maxImages) {
    throw new ImageAdmissionError('TOO_MANY_IMAGES', `${images.length} images are more than the ${maxImages} allowed`);
  }
  const total = images.reduce((sum, { data }) => sum + Buffer.byteLength(data, 'base64'), 0);
  if (total > maxMessageBytes) {
    throw new ImageAdmissionError(
      'IMAGES_TOO_LARGE',
      `the images are ${total} bytes together, more than the ${maxMessageBytes} allowed`,
    );
  }
  const admitted: AdmittedImage[] = [];
  for (const [index, image] of images.entries()) admitted.push(await admitImage(image, index, limits));
  return admitted;
}

async function admitImage(image: InlineImage, index: number, limits: ImageLimits): Promise<AdmittedImage> {
  const refusal = (code: ImageAdmissionCode, problem: string) =>
    new ImageAdmissionError(code, `image ${index} ${problem}`, index);
  const { data, mediaType: declared, name } = image;
  if (!isImageMediaType(declared)) {
    const shown = JSON.stringify(String(declared).slice(0, 100));
    throw refusal('UNSUPPORTED_IMAGE_TYPE', `is declared ${shown}, not one of ${MEDIA_TYPES.join(', ')}`);
  }
  const bytes = Buffer.from(data, 'base64');
  if (bytes.toString('base64') !== data) {
    const hint = data.startsWith('data:') ? ': leave out what precedes it in a data URL' : '';
    throw refusal('INVALID_IMAGE_BASE64', `is not canonical base64${hint}`);
  }
  const header = await readImageHeader(bytes);
  if (header === undefined) throw refusal('INVALID_IMAGE', 'does not begin as a whole PNG, JPEG, WebP or GIF does');
  const { mediaType, width, height } = header;
  if (mediaType !== declared) throw refusal('IMAGE_TYPE_MISMATCH', `is declared ${declared} and holds ${mediaType}`);
  const { maxImageBytes, maxPixels, maxSide } = limits;
  if (bytes.length > maxImageBytes) {
    throw refusal('IMAGE_TOO_LARGE', `is ${bytes.length} bytes, more than the ${maxImageBytes} allowed`);
  }
  const size = `is ${width} x ${height} pixels`;
  if (width * height > maxPixels) {
    throw refusal('IMAGE_TOO_MANY_PIXELS', `${size}, more than the ${maxPixels} allowed`);
  }
  if (Math.max(width, height) > maxSide) {
    throw refusal('IMAGE_DIMENSION_TOO_LARGE', `${size}, more than the ${maxSide} allowed for a side`);
  }
  const attachmentId = attachmentIdOf(bytes);
  const reference = {
    attachmentId,
    mediaType,
    bytes: bytes.length,
    width,
    height,
    ...(name !== undefined && { name }),
  };
  return { reference, bytes };
}
