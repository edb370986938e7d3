import type { ImageMediaType } from '../../src/protocol/index.js';

interface Sample {
  readonly mediaType: ImageMediaType;
  /** A whole image of one pixel. */
  readonly data: string;
  readonly maxSide: number;
  resize(bytes: Buffer, width: number, height: number): void;
}

/** What can be stored, in each way in which its size can be written. */
export const SAMPLES = {
  png: {
    mediaType: 'image/png',
    data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    maxSide: 2 ** 31 - 1,
    resize(bytes, width, height) {
      bytes.writeUInt32BE(width, 16);
      bytes.writeUInt32BE(height, 20);
    },
  },
  gif: {
    mediaType: 'image/gif',
    data: 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7',
    maxSide: 0xffff,
    resize(bytes, width, height) {
      bytes.writeUInt16LE(width, 6);
      bytes.writeUInt16LE(height, 8);
    },
  },
  jpeg: {
    mediaType: 'image/jpeg',
    data: '/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA=',
    maxSide: 0xffff,
    resize(bytes, width, height) {
      const frame = frameHeaderOf(bytes);
      bytes.writeUInt16BE(height, frame + 5);
      bytes.writeUInt16BE(width, frame + 7);
    },
  },
  lossyWebp: {
    mediaType: 'image/webp',
    data: 'UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA',
    maxSide: 0x3fff,
    resize(bytes, width, height) {
      bytes.writeUInt16LE(width, 26);
      bytes.writeUInt16LE(height, 28);
    },
  },
  losslessWebp: {
    mediaType: 'image/webp',
    data: 'UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==',
    maxSide: 0x4000,
    resize(bytes, width, height) {
      bytes.writeUInt32LE((1 << 28) | ((height - 1) << 14) | (width - 1), 21);
    },
  },
  extendedWebp: {
    mediaType: 'image/webp',
    data: 'UklGRiwAAABXRUJQVlA4WAoAAAAAAAAAAAAAAAAAVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==',
    maxSide: 2 ** 24,
    resize(bytes, width, height) {
      bytes.writeUIntLE(width - 1, 24, 3);
      bytes.writeUIntLE(height - 1, 27, 3);
    },
  },
} as const satisfies Record<string, Sample>;

export type SampleKind = keyof typeof SAMPLES;

/** An image whose header names this size; its pixels do not matter to the store. */
export function imageBytes(kind: SampleKind = 'png', width = 1, height = 1): Buffer {
  const bytes = Buffer.from(SAMPLES[kind].data, 'base64');
  SAMPLES[kind].resize(bytes, width, height);
  return bytes;
}

/** The image padded to `size` bytes; decoders ignore what follows an image. */
export function paddedImage(kind: SampleKind, size: number): Buffer {
  const bytes = Buffer.alloc(size, kind);
  imageBytes(kind).copy(bytes);
  return bytes;
}

/** As a prompt brings it. */
export function imageBlock(
  bytes: Buffer = imageBytes(),
  mimeType: ImageMediaType = 'image/png',
): { type: 'image'; data: string; mimeType: ImageMediaType } {
  return { type: 'image', data: bytes.toString('base64'), mimeType };
}

/** Where the JPEG sample's frame header starts. */
export function frameHeaderOf(bytes: Buffer): number {
  return bytes.indexOf(Buffer.of(0xff, 0xc2));
}
