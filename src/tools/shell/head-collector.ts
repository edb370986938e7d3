import { headOf } from '../../base/index.js';

/** The most bytes of UTF-8 that one UTF-16 unit can come from, an invalid sequence's replacement mark included. */
const BYTES_PER_CHAR = 3;
/** Room for a character that the byte limit would cut, past the last character that counts. */
const SLACK_BYTES = 8;

/** Keeps the head of a stream of bytes, as much as `maxChars` characters can need, and counts the rest. */
export class HeadCollector {
  readonly #maxChars: number;
  readonly #chunks: Buffer[] = [];
  #room: number;
  #total = 0;

  constructor(maxChars: number) {
    this.#maxChars = maxChars;
    this.#room = maxChars * BYTES_PER_CHAR + SLACK_BYTES;
  }

  /** Copies what it keeps. */
  push(bytes: Uint8Array): void {
    this.#total += bytes.length;
    if (this.#room === 0) return;
    const kept = Buffer.from(bytes.subarray(0, this.#room));
    this.#room -= kept.length;
    this.#chunks.push(kept);
  }

  get totalBytes(): number {
    return this.#total;
  }

  /** The head, decoded once, and whether there was more. One newline at the very end of the stream is left out. */
  read(): { readonly text: string; readonly clipped: boolean } {
    const bytes = Buffer.concat(this.#chunks);
    const isWhole = bytes.length === this.#total;
    const decoded = bytes.toString('utf8');
    const text = isWhole && decoded.endsWith('\n') ? decoded.slice(0, -1) : decoded;
    return { text: headOf(text, this.#maxChars), clipped: !isWhole || text.length > this.#maxChars };
  }
}
