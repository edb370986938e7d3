import { expect } from 'chai';
import fc from 'fast-check';
import { LineSplitter } from '../../src/base/index.js';
import { runs } from '../support/runs.js';

const NO_CAP = 1024 * 1024 * 1024;

function splitInto(chunks: readonly (Buffer | string)[], maxBytes = NO_CAP): { lines: string[]; heads: string[] } {
  const lines: string[] = [];
  const heads: string[] = [];
  const sink = { line: (text: string) => lines.push(text), oversize: (head: string) => heads.push(head) };
  const splitter = new LineSplitter(sink, maxBytes);
  for (const chunk of chunks) splitter.push(Buffer.from(chunk));
  splitter.end();
  return { lines, heads };
}

function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return at.slice(1).map((end, index) => bytes.subarray(at[index], end));
}

/** CPU milliseconds, the least of three, to push one line of `bytes` bytes in 8 KiB chunks. */
function costOfLine(bytes: number): number {
  const chunk = Buffer.alloc(8192, 'x');
  const once = (): number => {
    const splitter = new LineSplitter({ line: () => undefined, oversize: () => undefined }, NO_CAP);
    const before = process.cpuUsage();
    for (let sent = 0; sent < bytes; sent += chunk.length) splitter.push(chunk);
    splitter.end();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
  return Math.min(...Array.from({ length: 3 }, once));
}

describe('LineSplitter', () => {
  const cases: { title: string; chunks: string[]; lines: string[] }[] = [
    { title: 'several lines in one chunk', chunks: ['a\nb\nc\n'], lines: ['a', 'b', 'c'] },
    { title: 'one line over many chunks', chunks: ['a', 'b', '', 'c\n'], lines: ['abc'] },
    { title: 'blank lines', chunks: ['\n\na\n', '\n'], lines: ['', '', 'a', ''] },
    { title: 'a newline of its own', chunks: ['a', '\n', 'b', '\n'], lines: ['a', 'b'] },
    { title: 'the tail without a newline', chunks: ['a\nb', 'c'], lines: ['a', 'bc'] },
    { title: 'no tail after a last newline', chunks: ['a\n'], lines: ['a'] },
    { title: 'nothing at all', chunks: [''], lines: [] },
    { title: 'CRLF (A3)', chunks: ['a\r\nb\r', '\nc\r\n'], lines: ['a', 'b', 'c'] },
    { title: 'one CR only of several', chunks: ['a\r\r\n'], lines: ['a\r'] },
    { title: 'a CR within a line', chunks: ['a\rb\n'], lines: ['a\rb'] },
  ];
  for (const { title, chunks, lines } of cases) {
    it(`delivers ${title}`, () => expect(splitInto(chunks).lines).to.deep.equal(lines));
  }

  it('keeps U+2028, U+2029, U+0085, VT and FF inside a line (A2)', () => {
    const line = 'a\u2028b\u2029c\u0085d\u000be\u000cf';
    expect(splitInto([`${line}\n${line}`]).lines).to.deep.equal([line, line]);
  });

  for (const text of ['台', '🔥', 'é']) {
    it(`decodes ${text} from chunks of one byte (A1)`, () => {
      const bytes = Buffer.from(`x${text}y\n`);
      expect(splitInto([...bytes].map((byte) => Buffer.from([byte]))).lines).to.deep.equal([`x${text}y`]);
    });
  }

  it('delivers the same lines wherever the bytes are cut', () => {
    const text = fc.string({ unit: fc.constantFrom('a', '\r', 'é', '台', '🔥', '\u2028', '"', ' ') });
    fc.assert(
      fc.property(fc.array(text), fc.array(fc.nat()), fc.constantFrom(NO_CAP, 4), (lines, cuts, cap) => {
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
        const bare = lines.map((line) => line.replace(/\r$/, ''));
        const short = bare.filter((line) => Buffer.byteLength(line) <= cap);
        const split = splitInto(cutAt(bytes, cuts), cap);
        expect(split.lines).to.deep.equal(short);
        expect(split.heads).to.have.length(bare.length - short.length);
      }),
    );
  });

  it('delivers a long line as it is, wherever its code points meet the pieces it is decoded in', () => {
    const unit = fc.constantFrom('a', 'é', '台', '🔥');
    fc.assert(
      fc.property(fc.string({ unit, minLength: 1, maxLength: 7 }), fc.nat(70_000), (text, cut) => {
        const bytes = Buffer.from(text.repeat(Math.ceil(200_000 / Buffer.byteLength(text))));
        expect(splitInto([bytes.subarray(0, cut), bytes.subarray(cut)]).lines[0] === bytes.toString()).to.equal(true);
      }),
    );
  });

  it('replaces what is no UTF-8 in a long line as a decoder of the whole does', () => {
    const piece = fc.uint8Array({ minLength: 1, maxLength: 40 }).map((bytes) => bytes.filter((byte) => byte !== 0x0a));
    fc.assert(
      fc.property(piece, fc.nat(5), (junk, shift) => {
        const bytes = Buffer.concat([Buffer.alloc(65_536 - shift, 'x'), junk, Buffer.alloc(65_536, 'y')]);
        expect(splitInto([bytes]).lines[0] === bytes.toString()).to.equal(true);
      }),
      runs(1_000),
    );
  });

  describe('with a cap (A4)', () => {
    const CAP = 5000;
    for (const newline of ['\n', '\r\n', '']) {
      for (const chunkBytes of [1, 7, 4096, 1_000_000]) {
        for (const [size, passes] of [
          [CAP - 1, true],
          [CAP, true],
          [CAP + 1, false],
          [3 * CAP, false],
        ] as const) {
          const ending = JSON.stringify(newline);
          it(`${passes ? 'delivers' : 'skips'} ${size} bytes and ${ending} in chunks of ${chunkBytes}`, () => {
            const line = 'é'.repeat(size / 2) + 'x'.repeat(size % 2);
            const bytes = Buffer.from(`before\n${line}${newline}${newline && 'after\n'}`);
            const cuts = Array.from({ length: Math.ceil(bytes.length / chunkBytes) }, (_, index) => index * chunkBytes);
            const { lines, heads } = splitInto(cutAt(bytes, cuts), CAP);
            expect(lines).to.deep.equal(['before', ...(passes ? [line] : []), ...(newline ? ['after'] : [])]);
            expect(heads).to.deep.equal(passes ? [] : [line.slice(0, 2048)]);
          });
        }
      }
    }

    it('judges every line of a chunk by itself', () => {
      const { lines, heads } = splitInto(['ok\ntoo long\nfine\n\nalso too long'], 4);
      expect(lines).to.deep.equal(['ok', 'fine', '']);
      expect(heads).to.deep.equal(['too long', 'also too long']);
    });

    it('holds no more than the cap of an endless line (A5)', () => {
      const heads: string[] = [];
      const sink = { line: () => expect.fail('a line came out'), oversize: (head: string) => heads.push(head) };
      const splitter = new LineSplitter(sink, 1024 * 1024);
      const chunk = Buffer.alloc(65_536, 'x');
      const before = process.memoryUsage().arrayBuffers;
      for (let sent = 0; sent < 300 * 1024 * 1024; sent += chunk.length) splitter.push(chunk);
      expect(process.memoryUsage().arrayBuffers - before).to.be.below(8 * 1024 * 1024);
      expect(heads).to.deep.equal(['x'.repeat(4096)]);
    });

    for (const cap of [0, -1, Number.NaN]) {
      it(`refuses ${cap} as a cap`, () => {
        const sink = { line: () => undefined, oversize: () => undefined };
        expect(() => new LineSplitter(sink, cap)).to.throw(RangeError, `not ${cap}`);
      });
    }
  });

  it('takes time linear in the length of a line that comes in 8 KiB chunks (A5)', () => {
    const small = costOfLine(2 * 1024 * 1024);
    const large = costOfLine(16 * 1024 * 1024);
    // Eight times the bytes: 8 when linear, 64 when quadratic.
    expect(large / small).to.be.below(32);
  }).timeout(60_000);
});
