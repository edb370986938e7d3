const newline = 0x0a;

/**
 * The last lines of a byte stream. Split on LF, UTF-8 decoded once per line, blank lines dropped; of a long line the
 * last `maxLineBytes` are kept, behind an ellipsis. Memory stays bounded whatever is written.
 */
export class StderrTail {
  readonly #maxLines: number;
  readonly #maxLineBytes: number;
  readonly #lines: string[] = [];
  #open = Buffer.alloc(0);
  #clipped = false;
  #onLine: ((line: string) => void) | undefined;

  constructor(maxLines = 400, maxLineBytes = 4096) {
    this.#maxLines = maxLines;
    this.#maxLineBytes = maxLineBytes;
  }

  /** The lines so far, oldest first, the unterminated one last. */
  get lines(): readonly string[] {
    const open = this.#decodeOpen();
    return open === '' ? [...this.#lines] : [...this.#lines, open].slice(-this.#maxLines);
  }

  /** Calls `listener` with each line from now on, as it is kept, but not with notes. It must not throw. */
  listen(listener: (line: string) => void): void {
    this.#onLine = listener;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
      this.#extend(chunk.subarray(from, at));
      this.#endLine();
      from = at + 1;
    }
    this.#extend(chunk.subarray(from));
  }

  /** Nothing more will come: the unterminated line is one. */
  end(): void {
    this.#endLine();
  }

  /** Adds a line of our own, after what has been written so far. */
  note(line: string): void {
    this.#endLine();
    this.#add(line);
  }

  #extend(piece: Buffer): void {
    if (piece.length === 0) return;
    const joined = Buffer.concat([this.#open, piece]);
    this.#clipped ||= joined.length > this.#maxLineBytes;
    // A copy, or the slice would keep the whole chunk alive.
    this.#open = this.#clipped ? Buffer.from(joined.subarray(-this.#maxLineBytes)) : joined;
  }

  #endLine(): void {
    const line = this.#decodeOpen();
    this.#open = Buffer.alloc(0);
    this.#clipped = false;
    if (line === '') return;
    this.#add(line);
    this.#onLine?.(line);
  }

  #decodeOpen(): string {
    let from = 0;
    // The clip may have cut a code point: its continuation bytes are of no use.
    while (this.#clipped && (this.#open[from] ?? 0) >> 6 === 0b10) from++;
    const text = this.#open.toString('utf8', from).trimEnd();
    return this.#clipped && text !== '' ? `…${text}` : text;
  }

  #add(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length > this.#maxLines) this.#lines.shift();
  }
}
