const MAX_BYTES = 64 * 1024;
const EVENT_FIELDS = [':', 'data', 'event', 'id', 'retry'];

/** The beginning of a response body, at most 64 KiB, and what it shows of its kind. */
export class BodyExcerpt {
  readonly #pieces: Buffer[] = [];
  #bytes = 0;

  /** Nothing is added any more. */
  get isFull(): boolean {
    return this.#bytes >= MAX_BYTES;
  }

  get text(): string {
    return Buffer.concat(this.#pieces).toString('utf8', 0, MAX_BYTES);
  }

  /** It begins as JSON or markup does. */
  get isDocument(): boolean {
    return /^\s*[{[<]/.test(this.text);
  }

  /** It begins as server-sent events do, as far as it goes. */
  get isEventStream(): boolean {
    const start = this.text.trimStart();
    return EVENT_FIELDS.some((field) => field.startsWith(start.slice(0, field.length)));
  }

  add(pieces: readonly Buffer[]): void {
    for (const piece of pieces) {
      if (this.isFull) return;
      this.#pieces.push(piece);
      this.#bytes += piece.length;
    }
  }
}
