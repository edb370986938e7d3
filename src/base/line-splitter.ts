import { Buffer, constants } from 'node:buffer';

const LF = 0x0a;
const CR = 0x0d;
const HEAD_BYTES = 4096;
/** Bytes of the open line that are decoded together: more would be copied about, fewer cost an object for each chunk. */
const PIECE_BYTES = 65_536;

/** Where the lines go. Both are called synchronously, in the order of the input, and must not throw. */
export interface LineSink {
  /** One line without its newline and without one trailing CR. Blank lines are delivered too. */
  line(text: string): void;
  /** A line went over the cap and is being skipped; `head` is the text of its first 4 KiB, or what was read of them. */
  oversize(head: string): void;
}

/**
 * Bytes in, lines out, in time linear in the bytes whatever their chunking.
 *
 * Splits on byte 0x0A only, so U+2028 and the like stay inside their line, and decodes every byte once and whole code
 * points only, so the chunks may be cut anywhere. Holds a copy of the open line and nothing else.
 */
export class LineSplitter {
  readonly #sink: LineSink;
  readonly #maxBytes: number;
  /** The open line is these texts, `#decoded` bytes long, and then the first `#length` bytes of `#open`. */
  readonly #pieces: string[] = [];
  #decoded = 0;
  #open = Buffer.alloc(0);
  #length = 0;
  #skipping = false;

  /**
   * @param maxBytes longest line in bytes, its LF or CRLF not counted; never more than a string can hold
   * @throws RangeError for a cap that is not a positive number
   */
  constructor(sink: LineSink, maxBytes: number) {
    if (!(maxBytes > 0)) throw new RangeError(`the line cap must be a positive number of bytes, not ${maxBytes}`);
    this.#sink = sink;
    this.#maxBytes = Math.min(maxBytes, constants.MAX_STRING_LENGTH - 1);
  }

  push(chunk: Buffer): void {
    let start = 0;
    if (this.#isOpen) {
      const end = chunk.indexOf(LF);
      this.#keep(end < 0 ? chunk : chunk.subarray(0, end));
      if (end < 0) return;
      this.#finish();
      start = end + 1;
    }
    const last = chunk.lastIndexOf(LF);
    if (last >= start) {
      if (last - start <= this.#maxBytes) this.#deliverAll(chunk.toString('utf8', start, last));
      else this.#deliverEach(chunk.subarray(start, last + 1));
      start = last + 1;
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
  }

  /** Delivers what stood after the last newline, if anything. The splitter can be used anew. */
  end(): void {
    if (this.#isOpen) this.#finish();
  }

  get #isOpen(): boolean {
    return this.#length > 0 || this.#pieces.length > 0 || this.#skipping;
  }

  /** Decodes many lines at once: none of them is longer than all of them. */
  #deliverAll(text: string): void {
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      this.#deliver(text.slice(start, end));
      start = end + 1;
    }
    this.#deliver(text.slice(start));
  }

  #deliverEach(lines: Buffer): void {
    for (let start = 0; start < lines.length; ) {
      const end = lines.indexOf(LF, start);
      this.#keep(lines.subarray(start, end));
      this.#finish();
      start = end + 1;
    }
  }

  #deliver(text: string): void {
    this.#sink.line(text.charCodeAt(text.length - 1) === CR ? text.slice(0, -1) : text);
  }

  #keep(bytes: Buffer): void {
    if (this.#skipping || bytes.length === 0) return;
    // The byte over the cap may be the CR of a CRLF whose LF is still to come.
    if (this.#decoded + this.#length + bytes.length > this.#maxBytes + (bytes[bytes.length - 1] === CR ? 1 : 0)) {
      this.#skip(bytes);
      return;
    }
    this.#reserve(this.#length + bytes.length);
    for (let at = 0; at < bytes.length; ) {
      const copied = bytes.copy(this.#open, this.#length, at);
      at += copied;
      this.#length += copied;
      if (this.#length === PIECE_BYTES) this.#decodePiece();
    }
  }

  /** Doubling keeps the copies linear; a list of chunks would cost an object for each, however small. */
  #reserve(bytes: number): void {
    const size = Math.min(Math.max(bytes, 2 * this.#open.length), PIECE_BYTES);
    if (bytes <= this.#open.length || size === this.#open.length) return;
    const roomy = Buffer.allocUnsafeSlow(size);
    this.#open.copy(roomy, 0, 0, this.#length);
    this.#open = roomy;
  }

  /** A long line is held as text: it would else be there as bytes and as text at its end. */
  #decodePiece(): void {
    const cut = wholeCodePoints(this.#open, this.#length);
    this.#pieces.push(this.#open.toString('utf8', 0, cut));
    this.#decoded += cut;
    this.#open.copyWithin(0, cut, this.#length);
    this.#length -= cut;
  }

  #skip(bytes: Buffer): void {
    const open = Buffer.concat([
      this.#open.subarray(0, Math.min(this.#length, HEAD_BYTES)),
      bytes.subarray(0, HEAD_BYTES),
    ]);
    const head = this.#pieces[0]?.slice(0, HEAD_BYTES) ?? open.toString('utf8', 0, HEAD_BYTES);
    this.#reset();
    this.#skipping = true;
    this.#sink.oversize(head);
  }

  #finish(): void {
    if (this.#skipping) {
      this.#skipping = false;
      return;
    }
    const rest = this.#open.toString('utf8', 0, this.#length);
    const text = this.#pieces.length === 0 ? rest : [...this.#pieces, rest].join('');
    this.#reset();
    this.#deliver(text);
  }

  #reset(): void {
    this.#pieces.length = 0;
    this.#decoded = 0;
    this.#length = 0;
  }
}

/** How many of the first `length` bytes remain when a code point that is still incomplete at their end is left out. */
function wholeCodePoints(bytes: Buffer, length: number): number {
  for (let back = 1; back <= 3; back += 1) {
    const byte = bytes[length - back] ?? 0;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? length - back : length;
    if (byte < 0x80) return length;
  }
  return length;
}
