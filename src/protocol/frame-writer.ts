import { Buffer } from 'node:buffer';
import type { Readable, Writable } from 'node:stream';
import { Deferred, piecesOf, toError } from '../base/index.js';
import type { FrameListener } from './frame-trace.js';
import type { TransportDiagnostic } from './transport.js';

/** Characters that leave without waiting for the end of the tick. */
const BATCH_CHARS = 32_768;
/** A body longer than this leaves in pieces. */
const LONG_CHARS = 262_144;

interface Batch {
  /** Bytes: a backlog of joined strings keeps the garbage collector busy. Text: a piece of a long body. */
  readonly content: Buffer | string;
  readonly chars: number;
}

/** What a writer is told besides its output. */
export interface FrameWriterOptions {
  readonly highWaterMark: number;
  readonly beforeWrite: (() => void | Promise<void>) | undefined;
  /** Hears each frame that is taken, without its newline. */
  readonly onFrame: FrameListener | undefined;
  readonly onDiagnostic: (diagnostic: TransportDiagnostic) => void;
  /** The frames of these batches did not reach the output; `last` is Infinity once nothing will any more. */
  readonly onLost: (first: number, last: number, error: Error) => void;
  /** The output broke, rather than being ended by its owner; `failure` tells how. At most once. */
  readonly onBroken: () => void;
}

/**
 * Collects frames and hands them to the output in batches: one a tick, or one for every 32 Ki characters.
 *
 * Batches are numbered from 1 and leave in order, each behind its own `beforeWrite`, and none while the output asks
 * to wait. Once the output is gone frames are dropped.
 */
export class FrameWriter {
  readonly #output: Writable;
  readonly #options: FrameWriterOptions;
  /** Frames of the batch that is still open. */
  #open = '';
  #openBatch = 1;
  /** Closed batches that have not left yet; the last is number `#openBatch - 1`. */
  #waiting: Batch[] = [];
  /** Last batch that was handed to the output. */
  #written = 0;
  /** Last batch that the output has accepted. */
  #accepted = 0;
  #queuedChars = 0;
  #tickDue = false;
  #writing = false;
  #full: boolean;
  #closed = false;
  #failure: Error | undefined;
  #room: Deferred<void> | undefined;
  readonly #flushes: { readonly batch: number; readonly done: Deferred<void> }[] = [];

  constructor(output: Writable, options: FrameWriterOptions) {
    this.#output = output;
    this.#options = options;
    this.#full = output.writableNeedDrain;
    output
      .on('drain', this.#onDrain)
      .on('finish', this.#onFinish)
      .on('error', this.#onError)
      .on('close', this.#onClose);
    if (output.destroyed) process.nextTick(this.#onClose);
  }

  /** Number of the batch that the next frame joins. */
  get openBatch(): number {
    return this.#openBatch;
  }

  /** Why nothing can be written any more. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /**
   * @param frame ends with its newline, or goes on with
   * @param body which is never copied as a whole if it is long, and
   * @param tail
   * @returns a promise when more than the high-water mark is queued; it fulfils when there is room again, or never
   *   will be
   */
  push(frame: string, body = '', tail = ''): void | Promise<void> {
    if (this.#closed || this.#failure !== undefined) return;
    this.#options.onFrame?.('out', `${frame}${body}${tail}`.trimEnd());
    this.#queuedChars += frame.length + body.length + tail.length;
    this.#open += frame;
    if (body.length > LONG_CHARS) this.#queuePieces(body);
    else this.#open += body;
    this.#open += tail;
    if (!this.#tickDue) {
      this.#tickDue = true;
      process.nextTick(this.#onTick);
    }
    if (this.#open.length >= BATCH_CHARS) {
      this.#seal();
      this.#pump();
    }
    if (this.#queuedChars > this.#options.highWaterMark) {
      this.#room ??= new Deferred<void>();
      return this.#room.promise;
    }
  }

  /** Settles when the output has accepted all frames pushed so far, or cannot. */
  flush(): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const batch = this.#open === '' ? this.#openBatch - 1 : this.#openBatch;
    if (batch <= this.#accepted) return Promise.resolve();
    const done = new Deferred<void>();
    this.#flushes.push({ batch, done });
    return done.promise;
  }

  /** Hands what is queued to the output, whether or not it asks to wait, and lets go of it. Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    const output = this.#output;
    output
      .off('drain', this.#onDrain)
      .off('finish', this.#onFinish)
      .off('error', this.#onError)
      .off('close', this.#onClose);
    guardErrors(output);
    this.#full = false;
    this.#seal();
    this.#pump();
    this.#releaseRoom();
  }

  readonly #onTick = (): void => {
    this.#tickDue = false;
    this.#pump();
  };

  readonly #onDrain = (): void => {
    this.#full = false;
    this.#pump();
  };

  /** The owner ended the output: no failure of the conversation, its answers may still be read. */
  readonly #onFinish = (): void => this.#stop(new Error('JSON-RPC output closed'));

  readonly #onError = (error: Error): void => this.#break(error);

  readonly #onClose = (): void => {
    if (!this.#output.writableFinished) this.#break(this.#output.errored ?? new Error('JSON-RPC output closed'));
  };

  #seal(): void {
    if (this.#open === '') return;
    this.#enqueue({ content: Buffer.from(this.#open), chars: this.#open.length });
    this.#open = '';
  }

  #queuePieces(body: string): void {
    this.#seal();
    for (const content of piecesOf(body, LONG_CHARS)) this.#enqueue({ content, chars: content.length });
  }

  #enqueue(batch: Batch): void {
    this.#waiting.push(batch);
    this.#openBatch += 1;
  }

  /** Not re-entrant: what `beforeWrite` or the output queue in turn waits for its own tick. */
  #pump(): void {
    while (!this.#writing && !this.#full && this.#failure === undefined) {
      if (this.#waiting.length === 0 && !this.#tickDue) this.#seal();
      const batch = this.#waiting.shift();
      if (batch === undefined) return;
      this.#writing = true;
      const barrier = this.#runBarrier();
      if (barrier === undefined) this.#write(batch);
      else void barrier.then(() => this.#write(batch)).then(() => this.#pump());
    }
  }

  #runBarrier(): Promise<void> | undefined {
    const report = (cause: unknown): void =>
      this.#options.onDiagnostic({
        kind: 'write-failed',
        message: 'beforeWrite failed; the frames leave all the same',
        cause,
      });
    try {
      const barrier = this.#options.beforeWrite?.();
      return barrier === undefined ? undefined : Promise.resolve(barrier).catch(report);
    } catch (thrown) {
      report(thrown);
      return undefined;
    }
  }

  #write({ content, chars }: Batch): void {
    if (this.#output.writableEnded) this.#onFinish();
    if (this.#failure === undefined) {
      this.#queuedChars -= chars;
      this.#written += 1;
      const batch = this.#written;
      try {
        const ready = this.#output.write(content, (error) => (error ? this.#break(error) : this.#accept(batch)));
        this.#full = !ready && !this.#closed;
      } catch (thrown) {
        this.#lose(batch, toError(thrown));
      }
      if (this.#queuedChars <= this.#options.highWaterMark) this.#releaseRoom();
    }
    this.#writing = false;
  }

  #accept(batch: number): void {
    this.#accepted = batch;
    while ((this.#flushes[0]?.batch ?? Number.POSITIVE_INFINITY) <= batch) this.#flushes.shift()?.done.resolve();
  }

  #lose(batch: number, error: Error): void {
    this.#accepted = batch;
    this.#rejectFlushes(error);
    this.#options.onDiagnostic({
      kind: 'write-failed',
      message: 'the output refused frames; they are lost',
      cause: error,
    });
    this.#options.onLost(batch, batch, error);
  }

  #break(error: Error): void {
    if (this.#failure !== undefined) return;
    this.#stop(error);
    this.#options.onBroken();
  }

  #stop(error: Error): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#open = '';
    this.#waiting = [];
    this.#queuedChars = 0;
    this.#rejectFlushes(error);
    this.#releaseRoom();
    this.#options.onLost(this.#written + 1, Number.POSITIVE_INFINITY, error);
  }

  #rejectFlushes(error: Error): void {
    for (const { done } of this.#flushes.splice(0)) done.reject(error);
  }

  #releaseRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }
}

function ignoreError(): void {}

/** A stream that breaks after it was let go must not take the process down. */
export function guardErrors(stream: Readable | Writable): void {
  if (!stream.listeners('error').includes(ignoreError)) stream.on('error', ignoreError);
}
