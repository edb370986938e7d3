import { createParser, type EventSourceParser } from 'eventsource-parser';

/** UTF-16 units that one unfinished event may take. */
const MAX_EVENT_CHARS = 32 * 1024 * 1024;

/**
 * Server-sent events out of bytes, however the network cut them: inside a UTF-8 sequence or between CR and LF. Only
 * an event that its blank line closed is delivered. Comments and lines that are no field are skipped.
 */
export class SseReader {
  readonly #decoder = new TextDecoder();
  readonly #parser: EventSourceParser;
  #endsInCr = false;
  #overflowed = false;

  constructor(onData: (data: string) => void, onOverflow: () => void) {
    this.#parser = createParser({
      maxBufferSize: MAX_EVENT_CHARS,
      onEvent: (event) => onData(event.data),
      onError: (error) => {
        if (error.type !== 'max-buffer-size-exceeded') return;
        this.#overflowed = true;
        onOverflow();
      },
    });
  }

  /** Calls back for the events that `bytes` completes, in order. Does nothing after an overflow. */
  feed(bytes: Uint8Array): void {
    const text = this.#withLineFeeds(this.#decoder.decode(bytes, { stream: true }));
    if (text !== '' && !this.#overflowed) this.#parser.feed(text);
  }

  /** The parser holds a CR back until it sees what follows, which at the end of a stream is nothing. */
  #withLineFeeds(text: string): string {
    if (text === '') return '';
    const rest = this.#endsInCr && text.startsWith('\n') ? text.slice(1) : text;
    this.#endsInCr = text.endsWith('\r');
    return rest.includes('\r') ? rest.replace(/\r\n?/g, '\n') : rest;
  }
}
