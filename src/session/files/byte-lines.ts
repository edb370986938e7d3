const NEWLINE = 0x0a;

/** Splits bytes into lines, keeping count of where they stand. Longer lines than the cap are given as `undefined`. */
export class ByteLines {
  #open: Buffer[] = [];
  #openBytes = 0;

  /** @param line hears each terminated line without its newline, valid during the call, and its length without newline */
  constructor(
    private readonly line: (bytes: Buffer | undefined, length: number) => void,
    private readonly maxBytes: number,
  ) {}

  /** The bytes after the last newline so far. */
  get openBytes(): number {
    return this.#openBytes;
  }

  push(bytes: Buffer): void {
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      const piece = bytes.subarray(start, end);
      start = end + 1;
      if (this.#openBytes === 0) this.line(piece.length > this.maxBytes ? undefined : piece, piece.length);
      else this.#finish(piece);
    }
    if (start < bytes.length) this.#keep(Buffer.from(bytes.subarray(start)));
  }

  /** The open line, if it is not over the cap. */
  rest(): Buffer | undefined {
    return this.#openBytes > this.maxBytes ? undefined : Buffer.concat(this.#open);
  }

  #finish(piece: Buffer): void {
    this.#keep(piece);
    const line = this.rest();
    const length = this.#openBytes;
    this.#open = [];
    this.#openBytes = 0;
    this.line(line, length);
  }

  #keep(bytes: Buffer): void {
    this.#openBytes += bytes.length;
    if (this.#openBytes <= this.maxBytes) this.#open.push(bytes);
    else this.#open = [];
  }
}
