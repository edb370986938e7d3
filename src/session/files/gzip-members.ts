import { errorCode } from '../../base/index.js';
import type { FrameReader } from './log-bytes.js';
import { zlib } from './log-compression.js';

const HEADER_BYTES = 10;
const TRAILER_BYTES = 8;
const DEFLATE = 8;
const EXTRA = 4;
const NAME = 8;
const COMMENT = 16;
const HEADER_CHECKSUM = 2;

/** What `info: true` makes of the result; the types do not say so. */
interface Inflated {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}

/** Reads gzip (RFC 1952) member by member, where Node's own reader would give nothing of what stands before a defect. */
export function gzipMembers(): FrameReader {
  const { constants, crc32, gunzipSync, inflateRawSync } = zlib();
  return {
    name: 'gzip member',
    read(bytes) {
      const start = headerBytes(bytes);
      const more = { needs: 2 * bytes.length };
      if (start === undefined) return more;
      let inflated: Inflated;
      try {
        inflated = inflateRawSync(bytes.subarray(start), { info: true }) as unknown as Inflated;
      } catch (thrown) {
        if (errorCode(thrown) === 'Z_BUF_ERROR') return more;
        throw thrown;
      }
      const { buffer: text, engine } = inflated;
      const end = start + engine.bytesWritten;
      if (bytes.length < end + TRAILER_BYTES) return { needs: end + TRAILER_BYTES };
      if (bytes.readUInt32LE(end) !== crc32(text)) throw new Error('its checksum is wrong');
      return { text, size: end + TRAILER_BYTES };
    },
    async readCut(bytes) {
      try {
        return gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH });
      } catch {
        return Buffer.alloc(0);
      }
    },
  };
}

/** Where the compressed bytes begin; undefined when the header goes on beyond what is there. */
function headerBytes(bytes: Buffer): number | undefined {
  if (bytes.length < HEADER_BYTES) return undefined;
  if (bytes.readUInt16BE() !== 0x1f8b || bytes.readUInt8(2) !== DEFLATE) throw new Error('none begins there');
  const flags = bytes.readUInt8(3);
  let at = HEADER_BYTES;
  if ((flags & EXTRA) !== 0) {
    if (bytes.length < at + 2) return undefined;
    at += 2 + bytes.readUInt16LE(at);
  }
  for (const flag of [NAME, COMMENT]) {
    if ((flags & flag) === 0) continue;
    const end = bytes.indexOf(0, at);
    if (end < 0) return undefined;
    at = end + 1;
  }
  if ((flags & HEADER_CHECKSUM) !== 0) at += 2;
  return at < bytes.length ? at : undefined;
}
