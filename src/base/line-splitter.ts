import { Buffer, constants } from 'node:buffer';

const LF = 0x0a;
const CR = 0x0d;
const HEAD_BYTES = 4096;
/** Capacity that is kept from line to line. */
const RESTING_BYTES = 65_536;

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
 * Splits on byte 0x0A only, so U+2028 and the like stay inside their line, and decodes whole lines only, so a code
 * point may be cut anywhere. Holds a copy of the open line and nothing else.
 */
export class LineSplitter {
  readonly #sink: LineSink;
  readonly #maxBytes: number;
  /** The open line is the first `#length` bytes. */
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
    if (this.#length > 0 || this.#skipping) {
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
    if (this.#length > 0 || this.#skipping) this.#finish();
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
    const length = this.#length + bytes.length;
    // The byte over the cap may be the CR of a CRLF whose LF is still to come.
    if (length > this.#maxBytes + (bytes[bytes.length - 1] === CR ? 1 : 0)) {
      this.#skip(bytes);
    } else {
      if (length > this.#open.length) this.#grow(length);
      bytes.copy(this.#open, this.#length);
      this.#length = length;
    }
  }

  /** Doubling keeps the copies linear; a list of chunks would cost an object for each, however small. */
  #grow(length: number): void {
    const roomy = Buffer.allocUnsafeSlow(Math.max(length, Math.min(2 * length, this.#maxBytes + 1), RESTING_BYTES));
    this.#open.copy(roomy, 0, 0, this.#length);
    this.#open = roomy;
  }

  #skip(bytes: Buffer): void {
    const head = Buffer.concat([
      this.#open.subarray(0, Math.min(this.#length, HEAD_BYTES)),
      bytes.subarray(0, HEAD_BYTES),
    ]);
    this.#reset();
    this.#skipping = true;
    this.#sink.oversize(head.toString('utf8', 0, HEAD_BYTES));
  }

  #finish(): void {
    if (this.#skipping) {
      this.#skipping = false;
      return;
    }
    const text = this.#open.toString('utf8', 0, this.#length);
    this.#reset();
    this.#deliver(text);
  }

  #reset(): void {
    this.#length = 0;
    if (this.#open.length > RESTING_BYTES) this.#open = Buffer.alloc(0);
  }
}
