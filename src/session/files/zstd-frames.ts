import type { FrameReader } from './log-bytes.js';
import { nativeZstd } from './log-compression.js';

const MAGIC = 0xfd2fb528;
const MAGIC_BYTES = 4;
const BLOCK_HEADER_BYTES = 3;
const CHECKSUM_BYTES = 4;
const RLE_BLOCK = 1;
const RESERVED_BLOCK = 3;
const DICTIONARY_BYTES = [0, 1, 2, 4] as const;
const CONTENT_SIZE_BYTES = [0, 2, 4, 8] as const;

/** Reads zstd (core §4.4) with what Node has, else with a library, whose lack of checksums is made up for. */
export async function zstdFrames(): Promise<FrameReader> {
  const decompress = nativeZstd()?.zstdDecompressSync ?? (await checkedLibrary());
  return {
    name: 'zstd frame',
    read(bytes) {
      const next = frameSize(bytes);
      if ('needs' in next || bytes.length < next.size) return { needs: 'needs' in next ? next.needs : next.size };
      return { text: decompress(bytes.subarray(0, next.size)), size: next.size };
    },
    readCut,
  };
}

/** The content checksum is the low half of the XXH64 hash (RFC 8878 §3.1.1). */
async function checkedLibrary(): Promise<(frame: Buffer) => Uint8Array> {
  const [{ decompress }, { default: xxhash }] = await Promise.all([import('fzstd'), import('xxhash-wasm')]);
  const { h64Raw } = await xxhash();
  return (frame) => {
    const text = decompress(frame);
    if (!hasChecksum(frame)) return text;
    const hash = h64Raw(text);
    const stored = frame.readUInt32LE(frame.length - CHECKSUM_BYTES);
    if (BigInt.asUintN(32, hash) !== BigInt(stored)) throw new Error('its checksum is wrong');
    return text;
  };
}

/** Block by block, which only the library gives. */
async function readCut(bytes: Uint8Array): Promise<Uint8Array> {
  const { Decompress } = await import('fzstd');
  const blocks: Uint8Array[] = [];
  const stream = new Decompress((block) => blocks.push(block.slice()));
  try {
    stream.push(bytes);
  } catch {
    // The blocks before are good.
  }
  return Buffer.concat(blocks);
}

/** How long the frame (RFC 8878) at the start of `bytes` is, or how many bytes have to be there to say more. */
function frameSize(bytes: Buffer): { readonly size: number } | { readonly needs: number } {
  let at = MAGIC_BYTES + 1;
  if (bytes.length < at) return { needs: at };
  if (bytes.readUInt32LE() !== MAGIC) throw new Error('none begins there');
  const descriptor = bytes.readUInt8(MAGIC_BYTES);
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const contentSize = CONTENT_SIZE_BYTES[(descriptor >> 6) as 0] || (isSingleSegment ? 1 : 0);
  at += (isSingleSegment ? 0 : 1) + DICTIONARY_BYTES[(descriptor & 3) as 0] + contentSize;
  for (let isLast = false; !isLast; ) {
    if (bytes.length < at + BLOCK_HEADER_BYTES) return { needs: at + BLOCK_HEADER_BYTES };
    const header = bytes.readUIntLE(at, BLOCK_HEADER_BYTES);
    const type = (header >> 1) & 3;
    if (type === RESERVED_BLOCK) throw new Error('a block is of no known type');
    isLast = (header & 1) === 1;
    at += BLOCK_HEADER_BYTES + (type === RLE_BLOCK ? 1 : header >> 3);
  }
  return { size: at + (hasChecksum(bytes) ? CHECKSUM_BYTES : 0) };
}

function hasChecksum(frame: Buffer): boolean {
  return (frame.readUInt8(MAGIC_BYTES) & 4) !== 0;
}
