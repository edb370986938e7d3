import type { ImageMediaType } from '../protocol/index.js';

/** What the first bytes of an image say. */
export interface ImageHeader {
  readonly mediaType: ImageMediaType;
  /** As encoded, in pixels, 1 or more: a rotation that EXIF asks for is not applied. */
  readonly width: number;
  readonly height: number;
}

/** More than the header of any format but JPEG takes. */
const HEAD_BYTES = 64;

/**
 * Kind and size of an image from its header alone: nothing is decompressed, and the time is linear in the bytes.
 * Undefined: no whole header of a PNG, JPEG, WebP or GIF.
 */
export async function readImageHeader(bytes: Buffer): Promise<ImageHeader | undefined> {
  const header = isJpeg(bytes) ? readJpeg(bytes) : await readFixedHeader(bytes);
  return header !== undefined && header.width > 0 && header.height > 0 ? header : undefined;
}

async function readFixedHeader(bytes: Buffer): Promise<ImageHeader | undefined> {
  // With the first image: a start needs none of it.
  const [{ PNG }, { GIF }, { WEBP }] = await Promise.all([
    import('image-size/types/png'),
    import('image-size/types/gif'),
    import('image-size/types/webp'),
  ]);
  const formats = [
    { mediaType: 'image/png', ...PNG, minBytes: 33 },
    { mediaType: 'image/gif', ...GIF, minBytes: 13 },
    { mediaType: 'image/webp', ...WEBP, minBytes: 25 },
  ] as const;
  // A copy with memory of its own: past the end of a view the library reads what lies behind it.
  const head = Uint8Array.from(bytes.subarray(0, HEAD_BYTES));
  try {
    const format = formats.find(({ validate }) => validate(head));
    if (format === undefined || bytes.length < format.minBytes) return undefined;
    const { width, height } = format.calculate(head);
    return { mediaType: format.mediaType, width, height };
  } catch {
    return undefined;
  }
}

function isJpeg(bytes: Buffer): boolean {
  return bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff;
}

/**
 * A JPEG's frame header stands behind metadata of any length. The library looks for it byte by byte, which takes
 * seconds for a few megabytes of rubbish.
 */
function readJpeg(bytes: Buffer): ImageHeader | undefined {
  for (let at = 2; ; ) {
    if (bytes[at] !== 0xff) at = bytes.indexOf(0xff, at);
    if (at < 0) return undefined;
    while (bytes[at] === 0xff) at += 1;
    const marker = bytes[at];
    if (marker === START_OF_SCAN || marker === END_OF_IMAGE) return undefined;
    // Marker, length (2), precision, height (2), width (2), number of components.
    if (isFrame(marker) && at + 9 <= bytes.length) {
      return { mediaType: 'image/jpeg', height: bytes.readUInt16BE(at + 4), width: bytes.readUInt16BE(at + 6) };
    }
    if (at + 3 > bytes.length) return undefined;
    const length = bytes.readUInt16BE(at + 1);
    if (length < 2) return undefined;
    at += 1 + length;
  }
}

const START_OF_SCAN = 0xda;
const END_OF_IMAGE = 0xd9;

/** Baseline, extended and progressive: what decoders of the web read. */
function isFrame(marker: number | undefined): boolean {
  return marker === 0xc0 || marker === 0xc1 || marker === 0xc2;
}
