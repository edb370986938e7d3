import { expect } from 'chai';
import { admitImages } from '../../src/attachment/admission.js';
import { FileAttachmentConfig } from '../../src/attachment/file-attachment-config.js';
import type { InlineImage } from '../../src/attachment/index.js';
import { ImageAdmissionError } from '../../src/attachment/index.js';
import { imageBytes, paddedImage, SAMPLES, type SampleKind } from '../support/images.js';
import { rejectionOf } from '../support/rejection-of.js';

const LIMITS = { ...new FileAttachmentConfig(), maxImages: 3, maxMessageBytes: 3000, maxImageBytes: 2000 };

function inline(bytes: Buffer = imageBytes(), mediaType: string = 'image/png'): InlineImage {
  return { data: bytes.toString('base64'), mediaType: mediaType as InlineImage['mediaType'] };
}
const raw = (data: string): InlineImage => ({ data, mediaType: 'image/png' });

describe('admitImages', () => {
  it('has the limits of the specification by default (core §2.5)', () => {
    expect({ ...new FileAttachmentConfig() }).to.deep.include({
      maxImages: 20,
      maxMessageBytes: 200 * 1024 * 1024,
      maxImageBytes: 20 * 1024 * 1024,
      maxPixels: 64_000_000,
      maxSide: 8192,
    });
  });

  for (const kind of Object.keys(SAMPLES) as SampleKind[]) {
    it(`describes a ${kind} by digest, type and size`, async () => {
      const { mediaType } = SAMPLES[kind];
      const bytes = imageBytes(kind, 30, 20);
      const [image] = await admitImages([{ ...inline(bytes, mediaType), name: 'photo' }], LIMITS);
      expect(image?.reference).to.deep.include({
        mediaType,
        bytes: bytes.length,
        width: 30,
        height: 20,
        name: 'photo',
      });
      expect(image?.reference.attachmentId).to.match(/^sha256:[0-9a-f]{64}$/);
      expect(image?.bytes).to.deep.equal(bytes);
    });
  }

  it('takes what is exactly at a limit', async () => {
    const third = paddedImage('gif', 1000);
    const messages = [
      [inline(), inline(), inline()],
      [inline(paddedImage('png', 2000)), inline(third, 'image/gif')],
      [inline(imageBytes('png', 8192, 7812))],
      [inline(imageBytes('png', 8000, 8000))],
    ];
    for (const images of messages) expect(await admitImages(images, LIMITS)).to.have.length(images.length);
    expect(await admitImages([], LIMITS)).to.deep.equal([]);
  });

  /** `[what, images, code, index, message]`; broken rules behind the one that counts show the order. */
  const refused: readonly [string, readonly InlineImage[], string, number | undefined, RegExp][] = [
    [
      'more images than a message may carry, before it looks at any',
      [raw('?'), raw('?'), raw('?'), raw('?')],
      'TOO_MANY_IMAGES',
      undefined,
      /^4 images are more than the 3 allowed$/,
    ],
    [
      'images that are too large together, before it looks at any',
      [raw('?'), inline(paddedImage('png', 1500)), inline(paddedImage('png', 1501))],
      'IMAGES_TOO_LARGE',
      undefined,
      /^the images are 3001 bytes together, more than the 3000 allowed$/,
    ],
    [
      'a type that is none of the four',
      [inline(), { ...raw('?'), mediaType: 'image/bmp' as 'image/png' }],
      'UNSUPPORTED_IMAGE_TYPE',
      1,
      /^image 1 is declared "image\/bmp", not one of image\/png, image\/jpeg, image\/webp, image\/gif$/,
    ],
    ['a type in capitals', [inline(imageBytes(), 'IMAGE/PNG')], 'UNSUPPORTED_IMAGE_TYPE', 0, /"IMAGE\/PNG"/],
    ['a data URL', [raw(`data:image/png;base64,${inline().data}`)], 'INVALID_IMAGE_BASE64', 0, /data URL/],
    ['base64 without its padding', [raw(inline().data.replace(/=+$/, ''))], 'INVALID_IMAGE_BASE64', 0, /canonical/],
    ['base64 in lines', [raw(`${inline().data}\n`)], 'INVALID_IMAGE_BASE64', 0, /canonical/],
    ['base64 in the alphabet of URLs', [raw('_-_-')], 'INVALID_IMAGE_BASE64', 0, /canonical/],
    ['base64 with bits in its padding', [raw('AB==')], 'INVALID_IMAGE_BASE64', 0, /canonical/],
    ['no bytes', [raw('')], 'INVALID_IMAGE', 0, /^image 0 does not begin as a whole PNG, JPEG, WebP or GIF does$/],
    ['a cut header', [inline(imageBytes().subarray(0, 20))], 'INVALID_IMAGE', 0, /whole/],
    ['noise, however large', [inline(Buffer.alloc(2500, 'noise'))], 'INVALID_IMAGE', 0, /whole/],
    [
      'another type than the declared one, however large',
      [inline(), inline(paddedImage('gif', 2500))],
      'IMAGE_TYPE_MISMATCH',
      1,
      /^image 1 is declared image\/png and holds image\/gif$/,
    ],
    [
      'an image of too many bytes, before its pixels',
      [inline(Buffer.concat([imageBytes('png', 9000, 9000), Buffer.alloc(2000)]))],
      'IMAGE_TOO_LARGE',
      0,
      /^image 0 is 20\d\d bytes, more than the 2000 allowed$/,
    ],
    [
      'a bomb by its declared pixels, before its sides',
      [inline(imageBytes('png', 2 ** 31 - 1, 2 ** 31 - 1))],
      'IMAGE_TOO_MANY_PIXELS',
      0,
      /^image 0 is 2147483647 x 2147483647 pixels, more than the 64000000 allowed$/,
    ],
    ['one row of pixels too many', [inline(imageBytes('png', 8192, 7813))], 'IMAGE_TOO_MANY_PIXELS', 0, /8192 x 7813/],
    [
      'a side that is too long',
      [inline(imageBytes('png', 1, 8193))],
      'IMAGE_DIMENSION_TOO_LARGE',
      0,
      /^image 0 is 1 x 8193 pixels, more than the 8192 allowed for a side$/,
    ],
    ['the other side', [inline(imageBytes('gif', 8193, 1), 'image/gif')], 'IMAGE_DIMENSION_TOO_LARGE', 0, /8193 x 1/],
  ];
  for (const [what, images, code, imageIndex, message] of refused) {
    it(`refuses ${what}: ${code}`, async () => {
      const error = await rejectionOf(admitImages(images, LIMITS));
      expect(error).to.be.instanceOf(ImageAdmissionError);
      expect(error).to.include({ code, imageIndex });
      expect(error.message).to.match(message);
    });
  }
});
