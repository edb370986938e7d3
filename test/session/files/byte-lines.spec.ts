import { expect } from 'chai';
import { array, assert, nat, property, string } from 'fast-check';
import { ByteLines } from '../../../src/session/files/byte-lines.js';
import { runs } from '../../support/runs.js';

function split(
  chunks: readonly Buffer[],
  maxBytes = 1_000,
): { lines: unknown[]; rest: string | undefined; open: number } {
  const lines: unknown[] = [];
  const splitter = new ByteLines((bytes, length) => lines.push(bytes?.toString() ?? length), maxBytes);
  for (const chunk of chunks) {
    splitter.push(chunk);
    // Slices are read into the same memory, one after the other.
    chunk.fill('!');
  }
  return { lines, rest: splitter.rest()?.toString(), open: splitter.openBytes };
}

describe('ByteLines', () => {
  it('gives the same lines however the bytes come', () => {
    assert(
      property(array(string({ unit: 'grapheme', maxLength: 6 }), { maxLength: 8 }), array(nat(40)), (texts, cuts) => {
        const lines = texts.map((text) => text.replaceAll('\n', ''));
        const bytes = Buffer.from(lines.join('\n'));
        const edges = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
        const chunks = edges.slice(1).map((edge, at) => Buffer.from(bytes.subarray(edges[at], edge)));
        const result = split(chunks);
        expect(result.lines).to.deep.equal(lines.slice(0, -1));
        expect(result.rest).to.equal(lines.at(-1) ?? '');
        expect(result.open).to.equal(Buffer.byteLength(lines.at(-1) ?? ''));
      }),
      runs(200),
    );
  });

  it('gives only the length of a line over the cap, in one piece or many, and goes on after it', () => {
    const long = 'x'.repeat(11);
    const text = `${long}\n0123456789\n${long}\nshort\n${long}`;
    for (const size of [1, 3, 100]) {
      const chunks = (text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []).map((piece) => Buffer.from(piece));
      expect(split(chunks, 10)).to.deep.equal({ lines: [11, '0123456789', 11, 'short'], rest: undefined, open: 11 });
    }
  });
});
