import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { errorCode, piecesOf } from '../../base/index.js';
import { LlmError } from '../errors.js';
import { httpError } from './http-error.js';

/** What ends an exchange early, and how its errors name where it went. */
export interface HttpExchangeOptions {
  readonly signal: AbortSignal;
  /** Milliseconds that a wait for the server may take: for the connection, the head, or more of the body. */
  readonly idleTimeoutMs: number;
  /** Milliseconds until the connection must stand, TLS and a proxy's tunnel with it. */
  readonly connectTimeoutMs: number;
  /** The provider, as messages name it. */
  readonly name: string;
  /** The base URL as messages name it. */
  readonly base: string;
  /** The proxy as messages name it. */
  readonly proxy?: string;
}
/** Status and headers of the response; names of headers are in lower case. */
export interface ResponseHead {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}

/**
 * Makes a request; `fresh`: over a connection that has not been used yet. The signal gives up a connection that is being
 * made, or is in use. May throw.
 */
export type OpenRequest = (fresh: boolean, dialSignal: AbortSignal) => ClientRequest;

/** Characters sent at once, so that a long body is not copied as a whole. */
const PIECE_CHARS = 262_144;
/** Bytes that may wait for the consumer before the socket is paused. */
const HIGH_WATER_MARK = 1024 * 1024;
/** Milliseconds that a response may go on after its answer was complete, for the sake of its connection. */
const DRAIN_MS = 1_000;

/**
 * One request and its response, pulled (core §5.7). One consumer awaits `head()`, then `read()` until it gives
 * undefined, and in any case calls `close()`. Both reject with LlmError: `TRANSPORT`, `TIMEOUT`, `ABORTED`, `HTTP_101`.
 *
 * A kept-alive connection that breaks before it has answered anything was dead before: the request goes out once more,
 * over a fresh connection.
 */
export class HttpExchange {
  readonly #open: OpenRequest;
  readonly #body: string;
  readonly #options: HttpExchangeOptions;
  readonly #onClose: () => void;
  readonly #dial = new AbortController();
  #request: ClientRequest;
  #watchdog: NodeJS.Timeout;
  #connecting: NodeJS.Timeout | undefined;
  #deadline: NodeJS.Timeout | undefined;
  /** What the connection had received, in other exchanges, before this one. */
  #bytesBefore = 0;
  #response: IncomingMessage | undefined;
  #arrived: Buffer[] = [];
  #arrivedBytes = 0;
  #ended = false;
  #closed = false;
  #failure: LlmError | undefined;
  #wake: (() => void) | undefined;

  /** @param onClose called once, by `close()` or `release()` */
  constructor(open: OpenRequest, body: string, options: HttpExchangeOptions, onClose: () => void = () => undefined) {
    this.#open = open;
    this.#body = body;
    this.#options = options;
    this.#onClose = onClose;
    this.#request = open(false, this.#dial.signal);
    this.#watchdog = setTimeout(() => this.#onIdle(), options.idleTimeoutMs);
    options.signal.addEventListener('abort', this.#onAbort);
    if (options.signal.aborted) this.#onAbort();
    this.#send();
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

  /**
   * The rest of the body is wanted only if it comes soon: from now on a wait fails with `TIMEOUT` after `idleMs`, and
   * the body after `totalMs` in all.
   */
  hurry(idleMs: number, totalMs: number): void {
    if (this.#closed) return;
    clearTimeout(this.#watchdog);
    clearTimeout(this.#deadline);
    this.#watchdog = setTimeout(() => this.#onIdle(), Math.min(idleMs, this.#options.idleTimeoutMs));
    this.#deadline = setTimeout(() => this.#onIdle(), totalMs);
  }

  /** Lets go of everything; idempotent. A response that has not ended is cut off, and its connection with it. */
  close(): void {
    this.#letGo();
    if (!this.#ended) this.#cut();
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
    const timer = setTimeout(() => this.#cut(), DRAIN_MS).unref();
    response.once('close', () => clearTimeout(timer));
    this.#ended = true;
  }

  /** Ends it: whoever waits, and whoever asks later, gets `failure`, unless there was another. */
  fail(failure: LlmError): void {
    if (this.#closed) return;
    this.#failure ??= failure;
    if (!this.#ended) this.#cut();
    this.#wake?.();
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

  #send(): void {
    const request = this.#request;
    clearTimeout(this.#connecting);
    this.#connecting = setTimeout(() => this.#onConnectTimeout(), this.#options.connectTimeoutMs);
    request.on('socket', (socket) => {
      this.#bytesBefore = socket.bytesRead;
      if (request.reusedSocket) clearTimeout(this.#connecting);
      else this.#awaitConnection(socket);
    });
    request.on('proxyConnect', ({ statusCode }: { readonly statusCode?: number }) => this.#onProxy(statusCode));
    request.on('error', (error) => {
      if (request === this.#request) this.#onError(error);
    });
    request.on('response', (response) => this.#onResponse(response));
    request.on('upgrade', (response) => this.#onSwitch(response));
    if (this.#body.length <= PIECE_CHARS) {
      request.end(this.#body);
    } else {
      request.setHeader('content-length', Buffer.byteLength(this.#body));
      Readable.from(piecesOf(this.#body, PIECE_CHARS), { highWaterMark: 1 }).pipe(request);
    }
  }

  #awaitConnection(socket: Socket): void {
    const connected = () => clearTimeout(this.#connecting);
    if ('encrypted' in socket) socket.once('secureConnect', connected);
    else if (socket.connecting) socket.once('connect', connected);
    else connected();
  }

  /** A proxy that makes no tunnel answers in place of the API. */
  #onProxy(status: number | undefined): void {
    if (status === undefined || status === 200) return;
    this.fail(this.#broken(new Error(`the proxy answered with HTTP ${status}`)));
  }

  /** Nobody asked for another protocol, and what the connection would carry now is none of ours. */
  #onSwitch({ headers, socket }: IncomingMessage): void {
    const { name, base } = this.#options;
    this.fail(httpError({ status: 101, headers, body: '', name, base }));
    socket.destroy();
  }

  #onResponse(response: IncomingMessage): void {
    if (response.statusCode === 101) {
      this.#onSwitch(response);
      return;
    }
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
    if (this.#closed || this.#failure !== undefined) return;
    if (this.#wasStale()) this.#resend();
    else this.fail(this.#broken(cause));
  }

  #wasStale(): boolean {
    const { reusedSocket, socket } = this.#request;
    return reusedSocket && this.#response === undefined && socket?.bytesRead === this.#bytesBefore;
  }

  /** At most once, as a fresh connection is no reused one. */
  #resend(): void {
    try {
      this.#request = this.#open(true, this.#dial.signal);
      this.#send();
    } catch (thrown) {
      this.fail(thrown as LlmError);
    }
  }

  #broken(cause: Error): LlmError {
    const { name } = this.#options;
    const part = this.#response === undefined ? 'request to' : 'stream from';
    // A connection that failed on several addresses has no message of its own.
    const why = cause.message.trim() || errorCode(cause) || cause.name;
    const message = `${name} API ${part} ${this.#target()} failed: ${why}`;
    return new LlmError({ code: 'TRANSPORT', message }, { cause });
  }

  #target(): string {
    const { base, proxy } = this.#options;
    return proxy === undefined ? base : `${base} through the proxy ${proxy}`;
  }

  #onConnectTimeout(): void {
    const { name, connectTimeoutMs } = this.#options;
    const message = `connecting to the ${name} API at ${this.#target()} took longer than ${connectTimeoutMs}ms`;
    this.fail(new LlmError({ code: 'TIMEOUT', message }));
  }

  #onIdle(): void {
    if (this.#wake === undefined) return;
    const { name, idleTimeoutMs } = this.#options;
    const message = `${name} stream idle timeout after ${idleTimeoutMs}ms`;
    this.fail(new LlmError({ code: 'TIMEOUT', message }));
  }

  /** What has arrived, were it the whole answer, is not told any more. */
  readonly #onAbort = (): void => {
    this.#arrived = [];
    this.fail(new LlmError({ code: 'ABORTED', message: 'the model call was aborted' }));
  };

  #cut(): void {
    this.#request.destroy();
    // A request without a connection yet would be left alone by it.
    this.#dial.abort();
  }

  #letGo(): void {
    if (!this.#closed) this.#onClose();
    this.#closed = true;
    clearTimeout(this.#watchdog);
    clearTimeout(this.#connecting);
    clearTimeout(this.#deadline);
    this.#options.signal.removeEventListener('abort', this.#onAbort);
  }
}
