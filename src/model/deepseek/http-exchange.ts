import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { errorCode } from '../../base/index.js';
import { LlmError } from '../errors.js';

export interface HttpExchangeOptions {
  readonly signal: AbortSignal;
  /** Milliseconds that a wait for the server may take: for the connection, the head, or more of the body. */
  readonly idleTimeoutMs: number;
  /** The base URL as messages name it. */
  readonly base: string;
}
export interface ResponseHead {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}

/** Bytes that may wait for the consumer before the socket is paused. */
const HIGH_WATER_MARK = 1024 * 1024;
/** Milliseconds that a response may go on after its answer was complete, for the sake of its connection. */
const DRAIN_MS = 1_000;

/**
 * One request and its response, pulled (core §5.7). One consumer awaits `head()`, then `read()` until it gives
 * undefined, and in any case calls `close()`. Both reject with LlmError: `TRANSPORT`, `TIMEOUT`, `ABORTED`.
 */
export class HttpExchange {
  readonly #request: ClientRequest;
  readonly #options: HttpExchangeOptions;
  readonly #watchdog: NodeJS.Timeout;
  #response: IncomingMessage | undefined;
  #arrived: Buffer[] = [];
  #arrivedBytes = 0;
  #ended = false;
  #closed = false;
  #failure: LlmError | undefined;
  #wake: (() => void) | undefined;

  constructor(request: ClientRequest, body: string, options: HttpExchangeOptions) {
    this.#request = request;
    this.#options = options;
    this.#watchdog = setTimeout(() => this.#onIdle(), options.idleTimeoutMs);
    options.signal.addEventListener('abort', this.#onAbort);
    if (options.signal.aborted) this.#onAbort();
    request.on('error', (error) => this.#onError(error));
    request.on('response', (response) => this.#onResponse(response));
    request.end(body);
  }

  /** The head of the response. */
  async head(): Promise<ResponseHead> {
    while (this.#response === undefined) {
      if (this.#failure !== undefined) throw this.#failure;
      await this.#activity();
    }
    return { status: this.#response.statusCode ?? 0, headers: this.#response.headers };
  }

  /** What arrived since the last call, at least one piece; undefined at the end of the body. */
  async read(): Promise<readonly Buffer[] | undefined> {
    for (;;) {
      if (this.#arrived.length > 0) return this.#take();
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#ended) return undefined;
      await this.#activity();
    }
  }

  /** Lets go of everything; idempotent. A response that has not ended is cut off, and its connection with it. */
  close(): void {
    this.#letGo();
    if (!this.#ended) this.#request.destroy();
  }

  /** As `close()`, but gives what is left of the body a moment to arrive, so that the connection can be used again. */
  release(): void {
    const response = this.#response;
    if (this.#closed || this.#ended || response === undefined) {
      this.close();
      return;
    }
    this.#letGo();
    response.resume();
    const timer = setTimeout(() => this.#request.destroy(), DRAIN_MS).unref();
    response.once('close', () => clearTimeout(timer));
    this.#ended = true;
  }

  #take(): readonly Buffer[] {
    const taken = this.#arrived;
    this.#arrived = [];
    this.#arrivedBytes = 0;
    if (this.#response?.isPaused()) this.#response.resume();
    return taken;
  }

  /** Fulfils when something happened. The watchdog counts only while the consumer waits here. */
  #activity(): Promise<void> {
    this.#watchdog.refresh();
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined;
        resolve();
      };
    });
  }

  #onResponse(response: IncomingMessage): void {
    this.#response = response;
    response.on('data', (bytes: Buffer) => this.#onData(bytes));
    response.on('end', () => {
      this.#ended = true;
      this.#wake?.();
    });
    response.on('error', (error) => this.#onError(error));
    this.#wake?.();
  }

  #onData(bytes: Buffer): void {
    if (this.#closed) return;
    this.#arrived.push(bytes);
    this.#arrivedBytes += bytes.length;
    if (this.#arrivedBytes >= HIGH_WATER_MARK) this.#response?.pause();
    this.#wake?.();
  }

  #onError(cause: Error): void {
    const part = this.#response === undefined ? 'request to' : 'stream from';
    // A connection that failed on several addresses has no message of its own.
    const why = cause.message.trim() || errorCode(cause) || cause.name;
    const message = `DeepSeek API ${part} ${this.#options.base} failed: ${why}`;
    this.#fail(new LlmError({ code: 'TRANSPORT', message }, { cause }));
  }

  #onIdle(): void {
    if (this.#wake === undefined) return;
    const message = `DeepSeek stream idle timeout after ${this.#options.idleTimeoutMs}ms`;
    this.#fail(new LlmError({ code: 'TIMEOUT', message }));
  }

  /** What has arrived, were it the whole answer, is not told any more. */
  readonly #onAbort = (): void => {
    this.#arrived = [];
    this.#fail(new LlmError({ code: 'ABORTED', message: 'the model call was aborted' }));
  };

  #fail(failure: LlmError): void {
    if (this.#closed) return;
    this.#failure ??= failure;
    if (!this.#ended) this.#request.destroy();
    this.#wake?.();
  }

  #letGo(): void {
    this.#closed = true;
    clearTimeout(this.#watchdog);
    this.#options.signal.removeEventListener('abort', this.#onAbort);
  }
}
