import { abortError } from '../base/index.js';
import { SdkProtocolError } from './errors.js';
import { type FrameId, isObject, responseError } from './frames.js';
import type { JsonObject } from './json.js';

/** What settles a request that was sent, and which write it left in. */
export interface PendingRequest {
  /** Batch of the writer that carries the request. */
  readonly batch: number;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** The requests whose answers are still to come, by id. Every one of them settles once. */
export class PendingRequests {
  readonly #prefix = `req_${randomHex()}${randomHex()}`;
  /** `release` lets go of the caller's signal. */
  readonly #pending = new Map<FrameId, { request: PendingRequest; release: (() => void) | undefined }>();
  #count = 0;

  /** A new id: `req_` and 32 hex digits, the last eight of them counting. */
  nextId(): string {
    this.#count += 1;
    return this.#prefix + (0x1_0000_0000 + this.#count).toString(16).slice(1);
  }

  /** From here on `request` settles with the answer to `id`, or rejects with the reason of `signal`. */
  add(id: string, request: PendingRequest, signal: AbortSignal | undefined): void {
    let release: (() => void) | undefined;
    if (signal !== undefined) {
      const onAbort = (): void => this.reject(id, requestAborted(signal));
      signal.addEventListener('abort', onAbort, { once: true });
      release = () => signal.removeEventListener('abort', onAbort);
    }
    this.#pending.set(id, { request, release });
  }

  /** An answer; one that nothing waits for is ignored (core §1.3). */
  settle(id: FrameId, { error, result }: JsonObject): void {
    const request = this.#take(id);
    if (request === undefined) return;
    if (isObject(error)) request.reject(responseError(error));
    else if (result !== undefined && (error === undefined || error === null)) request.resolve(result);
    else request.reject(new SdkProtocolError('a JSON-RPC response has neither a result nor an error object'));
  }

  /** One request, if it is still pending. */
  reject(id: FrameId, error: unknown): void {
    this.#take(id)?.reject(error);
  }

  /** Those of the batches `first` to `last`, or all. */
  rejectAll(error: Error, first = 0, last = Number.POSITIVE_INFINITY): void {
    for (const [id, { request }] of [...this.#pending]) {
      if (request.batch >= first && request.batch <= last) this.reject(id, error);
    }
  }

  #take(id: FrameId): PendingRequest | undefined {
    const entry = this.#pending.get(id);
    if (entry === undefined) return undefined;
    this.#pending.delete(id);
    entry.release?.();
    return entry.request;
  }
}

/** What a request rejects with when its signal is aborted. */
export function requestAborted(signal: AbortSignal): Error {
  return abortError(signal, 'JSON-RPC request');
}

/** Twelve digits. Enough to tell two connections over one pipe apart, and spares loading `node:crypto`. */
function randomHex(): string {
  return Math.floor(Math.random() * 2 ** 48)
    .toString(16)
    .padStart(12, '0');
}
