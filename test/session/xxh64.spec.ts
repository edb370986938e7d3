import { expect } from 'chai';
import { xxh64 } from '../../src/session/xxh64.js';

/** The checksums that the zstd command wrote behind so many bytes. */
const CHECKSUMS: readonly (readonly [number, number])[] = [
  [0, 0x51d8e999],
  [1, 0xdb052768],
  [3, 0x927fde3e],
  [4, 0xf9b200f0],
  [5, 0x953a032a],
  [7, 0x2e458e66],
  [8, 0x3330d0cc],
  [9, 0x29d081f5],
  [12, 0xd955363b],
  [15, 0xc895a1e2],
  [31, 0x66dc378d],
  [32, 0xfa5ca70d],
  [33, 0xfc434b81],
  [63, 0xd0d0a3a3],
  [64, 0xd1ce1876],
  [65, 0x1b932ec7],
  [255, 0x4a9a59a2],
  [1_000, 0xe0d86d06],
  [4_097, 0x530ba561],
];

describe('xxh64', () => {
  for (const [length, checksum] of CHECKSUMS) {
    it(`of ${length} bytes is what zstd says`, () => {
      const bytes = Buffer.from(Array.from({ length }, (_, at) => (at * 37 + (at >> 3)) & 255));
      expect(Number(xxh64(bytes) & 0xffff_ffffn)).to.equal(checksum);
    });
  }

  it('is whole in its upper half', () => {
    expect(xxh64(Buffer.from('abc'))).to.equal(0x44bc2cf5ad770999n);
  });
});
