const P1 = 0x9e3779b185ebca87n;
const P2 = 0xc2b2ae3d27d4eb4fn;
const P3 = 0x165667b19e3779f9n;
const P4 = 0x85ebca77c2b2ae63n;
const P5 = 0x27d4eb2f165667c5n;
const STRIPE_BYTES = 32;

/**
 * The XXH64 hash, seed 0, which a zstd frame's content checksum is the low half of (RFC 8878 §3.1.1). For Node versions
 * without a zstd of their own; some 20 MB/s.
 */
export function xxh64(bytes: Buffer): bigint {
  let at = 0;
  let hash = P5;
  if (bytes.length >= STRIPE_BYTES) {
    let [a, b, c, d] = [u64(P1 + P2), P2, 0n, u64(-P1)];
    for (; at <= bytes.length - STRIPE_BYTES; at += STRIPE_BYTES) {
      a = round(a, bytes.readBigUInt64LE(at));
      b = round(b, bytes.readBigUInt64LE(at + 8));
      c = round(c, bytes.readBigUInt64LE(at + 16));
      d = round(d, bytes.readBigUInt64LE(at + 24));
    }
    hash = u64(rotated(a, 1n) + rotated(b, 7n) + rotated(c, 12n) + rotated(d, 18n));
    for (const lane of [a, b, c, d]) hash = u64((hash ^ round(0n, lane)) * P1 + P4);
  }
  hash = u64(hash + BigInt(bytes.length));
  for (; at <= bytes.length - 8; at += 8) {
    hash = u64(rotated(hash ^ round(0n, bytes.readBigUInt64LE(at)), 27n) * P1 + P4);
  }
  if (at <= bytes.length - 4) {
    hash = u64(rotated(hash ^ u64(BigInt(bytes.readUInt32LE(at)) * P1), 23n) * P2 + P3);
    at += 4;
  }
  for (; at < bytes.length; at += 1) hash = u64(rotated(hash ^ u64(BigInt(bytes.readUInt8(at)) * P5), 11n) * P1);
  hash = u64((hash ^ (hash >> 33n)) * P2);
  hash = u64((hash ^ (hash >> 29n)) * P3);
  return hash ^ (hash >> 32n);
}

function round(sum: bigint, lane: bigint): bigint {
  return u64(rotated(u64(sum + lane * P2), 31n) * P1);
}

function rotated(value: bigint, bits: bigint): bigint {
  return u64(value << bits) | (value >> (64n - bits));
}

function u64(value: bigint): bigint {
  return BigInt.asUintN(64, value);
}
