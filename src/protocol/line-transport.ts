import { Buffer } from 'node:buffer';
import type { Readable, Writable } from 'node:stream';
import { Deferred, LineSplitter } from '../base/index.js';
import { FrameTooLargeError, JsonRpcResponseError } from './errors.js';
import { FrameWriter, guardErrors } from './frame-writer.js';
import {
  encodeNotification,
  encodeRequest,
  isFrameId,
  openNotification,
  parseObject,
  recoverObject,
  requestIdIn,
} from './frames.js';
import type { JsonObject } from './json.js';
import { JunkReport } from './junk-report.js';
import { PendingRequests, requestAborted } from './pending-requests.js';
import { RequestServer } from './request-server.js';
import type {
  JsonRpcTransport,
  JsonRpcTransportOptions,
  NotificationHandler,
  RequestHandler,
  TransportDiagnostic,
} from './transport.js';

const DEFAULT_MAX_FRAME_BYTES = 128 * 1024 * 1024;
const DEFAULT_HIGH_WATER_MARK = 64 * 1024 * 1024;

/**
 * JSON-RPC over two byte streams, one frame a line (core §1.2–1.4, §1.9).
 *
 * Frames are dispatched synchronously, in the order of the input. The end of the input ends the requests that wait
 * for an answer; the output stays usable until it is closed, ended or broken. When the output breaks, what the peer
 * had sent by then is still heard before the conversation is over. A closed transport leaves the input paused.
 */
export class JsonRpcLineTransport implements JsonRpcTransport {
  readonly closed: Promise<Error | undefined>;
  readonly #over = new Deferred<Error | undefined>();
  readonly #input: Readable;
  readonly #options: JsonRpcTransportOptions;
  readonly #maxFrameBytes: number;
  readonly #splitter: LineSplitter;
  readonly #writer: FrameWriter;
  readonly #pending = new PendingRequests();
  readonly #junk: JunkReport;
  readonly #server: RequestServer;
  #started = false;
  #inputOpen = true;
  /** Why no request can be sent any more. */
  #refusal: Error | undefined;

  constructor(input: Readable, output: Writable, options: JsonRpcTransportOptions = {}) {
    this.closed = this.#over.promise;
    this.#input = input;
    this.#options = options;
    this.#maxFrameBytes = options.maxFrameBytes ?? DEFAULT_MAX_FRAME_BYTES;
    const report = (diagnostic: TransportDiagnostic): void => options.onDiagnostic?.(diagnostic);
    this.#junk = new JunkReport(report);
    this.#splitter = new LineSplitter(
      { line: (text) => this.#read(text), oversize: (head) => this.#refuseFrame(head) },
      this.#maxFrameBytes,
    );
    this.#writer = new FrameWriter(output, {
      highWaterMark: options.highWaterMark ?? DEFAULT_HIGH_WATER_MARK,
      beforeWrite: options.beforeWrite,
      onFrame: options.onFrame,
      onDiagnostic: report,
      onLost: (first, last, error) => this.#pending.rejectAll(error, first, last),
      onBroken: this.#endAfterPoll,
    });
    this.#server = new RequestServer((frame) => void this.#writer.push(frame), report);
    input.on('error', this.#onInputError).on('close', this.#onInputClose);
    if (input.destroyed || input.readableEnded) process.nextTick(this.#onInputClose);
  }

  start(): void {
    if (this.#started || !this.#inputOpen) return;
    this.#started = true;
    this.#input.on('end', this.#onInputEnd).on('data', this.#onData).resume();
  }

  onRequest(handler: RequestHandler): void {
    this.#server.requestHandler = handler;
  }

  onNotification(handler: NotificationHandler): void {
    this.#server.notificationHandler = handler;
  }

  request(method: string, params: object = {}, signal?: AbortSignal): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) throw requestAborted(signal);
      const refusal = this.#refusal ?? this.#writer.failure;
      if (refusal !== undefined) throw refusal;
      const id = this.#pending.nextId();
      const frame = encodeRequest(id, method, params);
      this.#pending.add(id, { batch: this.#writer.openBatch, resolve, reject }, signal);
      this.#writer.push(frame);
    });
  }

  notify(method: string, params?: object): void | Promise<void> {
    return this.#writer.push(encodeNotification(method, params));
  }

  notifyEncoded(method: string, head: string, body?: string, tail = ''): void | Promise<void> {
    return this.#writer.push(openNotification(method, head), body, `${tail}}\n`);
  }

  flush(): Promise<void> {
    return this.#writer.flush();
  }

  close(): void {
    this.#refusal = new Error('JSON-RPC transport closed');
    this.#end(this.#refusal, undefined);
    this.#writer.close();
  }

  readonly #onData = (chunk: Buffer | string): void => {
    this.#splitter.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
    this.#junk.endOfChunk();
  };

  readonly #onInputEnd = (): void => {
    this.#splitter.end();
    this.#end(new Error('JSON-RPC input closed'), undefined);
  };

  readonly #onInputError = (error: Error): void => this.#end(error, error);

  /** Without `end` or `error` before it: the input was destroyed. */
  readonly #onInputClose = (): void => {
    const { errored } = this.#input;
    this.#end(errored ?? new Error('JSON-RPC input closed'), errored ?? undefined);
  };

  /**
   * Ends a conversation whose output broke, with a full poll of the event loop in between: an answer that is in the
   * pipe already must not be lost to the EPIPE of our next write, nor while somebody holds the input paused.
   */
  readonly #endAfterPoll = (): void => {
    setImmediate(() => setImmediate(() => this.#endBroken()));
  };

  #endBroken(): void {
    const { failure } = this.#writer;
    if (failure === undefined || !this.#inputOpen) return;
    if (this.#started && this.#input.isPaused()) this.#input.once('resume', this.#endAfterPoll);
    else this.#end(failure, failure);
  }

  #end(refusal: Error, outcome: Error | undefined): void {
    if (!this.#inputOpen) return;
    this.#inputOpen = false;
    this.#refusal ??= refusal;
    const input = this.#input;
    input.off('data', this.#onData).off('end', this.#onInputEnd);
    input.off('error', this.#onInputError).off('close', this.#onInputClose).off('resume', this.#endAfterPoll);
    guardErrors(input);
    if (this.#started) input.pause();
    this.#junk.flush();
    this.#pending.rejectAll(refusal);
    this.#over.resolve(outcome);
  }

  #read(line: string): void {
    if (!this.#inputOpen) return;
    this.#options.onFrame?.('in', line);
    const message = parseObject(line) ?? this.#recover(line);
    if (message === undefined) return;
    const { id, method } = message;
    if (id === undefined && typeof method === 'string') {
      this.#server.hear(method, message.params);
    } else if (!isFrameId(id)) {
      this.#junk.add(line);
      return;
    } else if (typeof method === 'string') {
      this.#server.serve(id, method, message.params);
    } else if (method === undefined) {
      this.#pending.settle(id, message);
    } else {
      this.#server.fail(id, JsonRpcResponseError.invalidRequest('method must be a string'));
    }
    this.#junk.sawFrame();
  }

  /** Blank lines are no junk. */
  #recover(line: string): JsonObject | undefined {
    const text = line.trim();
    if (text === '') return undefined;
    const trimmed = text === line ? undefined : parseObject(text);
    if (trimmed !== undefined) return trimmed;
    this.#junk.add(text);
    return recoverObject(text);
  }

  /** An answerable request is refused; else a lost frame may have been any answer (decision 10). */
  #refuseFrame(head: string): void {
    if (!this.#inputOpen) return;
    const error = new FrameTooLargeError(this.#maxFrameBytes);
    const id = requestIdIn(head);
    if (id !== undefined) {
      this.#server.fail(id, JsonRpcResponseError.invalidRequest(error.message));
      return;
    }
    this.#options.onDiagnostic?.({ kind: 'frame-too-large', message: `${error.message}; it was skipped` });
    this.#pending.rejectAll(error);
    this.#options.onFrameTooLarge?.(error.limit);
  }
}
