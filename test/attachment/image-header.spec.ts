import { expect } from 'chai';
import { array, assert, asyncProperty, constantFrom, integer, nat, uint8Array } from 'fast-check';
import { readImageHeader } from '../../src/attachment/image-header.js';
import { frameHeaderOf, imageBytes, SAMPLES, type SampleKind } from '../support/images.js';
import { runs } from '../support/runs.js';

const KINDS = Object.keys(SAMPLES) as SampleKind[];

/** `segment` put in front of the JPEG sample's frame header. */
function jpegWith(segment: Buffer, width = 1, height = 1): Buffer {
  const bytes = imageBytes('jpeg', width, height);
  const frame = frameHeaderOf(bytes);
  return Buffer.concat([bytes.subarray(0, frame), segment, bytes.subarray(frame)]);
}

function segment(marker: number, payload: Buffer): Buffer {
  const head = Buffer.of(0xff, marker, 0, 0);
  head.writeUInt16BE(payload.length + 2, 2);
  return Buffer.concat([head, payload]);
}

describe('readImageHeader', () => {
  for (const kind of KINDS) {
    const { mediaType, maxSide } = SAMPLES[kind];

    it(`reads kind and size of any ${kind}`, async () => {
      const side = integer({ min: 1, max: maxSide });
      await assert(
        asyncProperty(side, side, async (width, height) => {
          expect(await readImageHeader(imageBytes(kind, width, height))).to.deep.equal({ mediaType, width, height });
        }),
        runs(200),
      );
    });

    it(`takes no part of the header of a ${kind} for the whole, whatever lies behind it in memory`, async () => {
      const whole = imageBytes(kind, 300, 200);
      let complete = false;
      for (let size = 0; size <= whole.length; size += 1) {
        const memory = Buffer.alloc(whole.length + 64, 0x11);
        whole.copy(memory, 0, 0, size);
        const header = await readImageHeader(memory.subarray(0, size));
        if (header !== undefined) expect(header).to.deep.equal({ mediaType, width: 300, height: 200 });
        expect(header === undefined && complete, `${size} bytes`).to.equal(false);
        complete = header !== undefined;
      }
      expect(complete).to.equal(true);
    });
  }

  for (const kind of ['png', 'gif', 'jpeg', 'lossyWebp'] as const) {
    it(`refuses a ${kind} without width or height`, async () => {
      expect(await readImageHeader(imageBytes(kind, 0, 1))).to.equal(undefined);
      expect(await readImageHeader(imageBytes(kind, 1, 0))).to.equal(undefined);
    });
  }

  const refused: readonly [string, Buffer][] = [
    ['no bytes', Buffer.alloc(0)],
    ['text', Buffer.from('hello, this is not an image but long enough to be one')],
    ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><rect/></svg>')],
    ['a BMP', Buffer.concat([Buffer.from('BM'), Buffer.alloc(100, 1)])],
    ['a PNG whose first chunk is not its header', imageBytes().fill('IDAT', 12, 16)],
    ['a WebP of unknown encoding', imageBytes('lossyWebp').fill('VP8?', 12, 16)],
    ['a WebP whose extended header has its reserved bits set', imageBytes('extendedWebp').fill(0xff, 20, 21)],
    ['a JPEG that ends before its frame', Buffer.of(0xff, 0xd8, 0xff, 0xd9)],
    [
      'a lossless JPEG',
      imageBytes('jpeg')
        .fill(0xc3, frameHeaderOf(imageBytes('jpeg')) + 1)
        .subarray(0, 100),
    ],
    ['a JPEG with a segment shorter than its own length', jpegWith(Buffer.of(0xff, 0xe1, 0, 1))],
    ['a JPEG whose scan comes before its frame', jpegWith(segment(0xda, Buffer.alloc(6)))],
  ];
  for (const [what, bytes] of refused) {
    it(`refuses ${what}`, async () => {
      expect(await readImageHeader(bytes)).to.equal(undefined);
    });
  }

  it('finds the frame of a JPEG behind any metadata and fill bytes', async () => {
    const piece = array(uint8Array({ maxLength: 300 }), { maxLength: 20 });
    await assert(
      asyncProperty(piece, nat(5), constantFrom(0xe1, 0xe2, 0xfe), async (payloads, fill, marker) => {
        const segments = payloads.map((payload) => segment(marker, Buffer.from(payload)));
        const bytes = jpegWith(Buffer.concat([...segments, Buffer.alloc(fill, 0xff)]), 640, 480);
        expect(await readImageHeader(bytes)).to.deep.equal({ mediaType: 'image/jpeg', width: 640, height: 480 });
      }),
      runs(200),
    );
  });

  it('finds it behind megabytes of metadata, and does not take a thumbnail in there for the image', async () => {
    const thumbnail = Buffer.concat([imageBytes('jpeg', 16, 16), Buffer.alloc(60_000, 7)]);
    const metadata = Buffer.concat(Array.from({ length: 80 }, () => segment(0xe1, thumbnail)));
    expect(metadata.length).to.be.greaterThan(4 * 1024 * 1024);
    const header = await readImageHeader(jpegWith(metadata, 4000, 3000));
    expect(header).to.deep.equal({ mediaType: 'image/jpeg', width: 4000, height: 3000 });
  });

  for (const [what, filler] of [
    ['zeros', [0]],
    ['fill bytes', [0xff]],
    ['empty segments', [0xff, 0xe1, 0, 2]],
    ['segments without a length', [0xff, 0xe1, 0, 0]],
  ] as const) {
    it(`gives up on a JPEG of 24 MB of ${what} in linear time`, async () => {
      const bytes = Buffer.alloc(24 * 1024 * 1024, Buffer.from(filler));
      bytes.set([0xff, 0xd8, 0xff], 0);
      expect(await readImageHeader(bytes)).to.equal(undefined);
    });
  }

  it('never throws, whatever follows the signature', async () => {
    const starts = KINDS.map((kind) => imageBytes(kind));
    await assert(
      asyncProperty(constantFrom(...starts), nat(40), uint8Array({ maxLength: 200 }), async (start, kept, noise) => {
        const header = await readImageHeader(Buffer.concat([start.subarray(0, kept), noise]));
        if (header !== undefined) expect(Math.min(header.width, header.height)).to.be.greaterThan(0);
      }),
      runs(1000),
    );
  });
});
