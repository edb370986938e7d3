import { type FinishReason, isEvent, type Message, type SessionEvent, type StreamChunk } from '../../protocol/index.js';

/** One recorded model call. */
export interface Take {
  /** Seq of its first chunk. */
  readonly seq: number;
  /** What entered the history since the call before it. */
  readonly heard: readonly Message[];
  /** Its chunks; a batch came within one millisecond. The last chunk is the only `finish`. */
  readonly batches: readonly (readonly StreamChunk[])[];
}

/** The takes of a log whose events are given in order to {@link add}. A log that was cut ends in a cut take. */
export class Cassette {
  readonly takes: Take[] = [];
  readonly #surface: { readonly seq: number; readonly message: Message }[] = [];
  #open: { readonly batches: StreamChunk[][]; time: number } | undefined;

  add(event: SessionEvent): void {
    if (isEvent(event, 'assistant/chunk')) this.#record(event.data.chunk, event);
    else if (isEvent(event, 'llm/retry')) this.#retried();
    else if (isEvent(event, 'step/end')) this.end();
    else this.#show(event);
  }

  /** No chunk follows: what is open was cut off, by a cancel or a crash. Idempotent. */
  end(): void {
    this.#open?.batches.push([{ type: 'finish', reason: CUT }]);
    this.#open = undefined;
  }

  #record(chunk: StreamChunk, { seq, time }: SessionEvent): void {
    if (this.#open === undefined) {
      const last = this.takes.at(-1)?.seq ?? -1;
      const heard = this.#surface.filter((node) => node.seq > last).map(({ message }) => message);
      this.#open = { batches: [], time: Number.NaN };
      this.takes.push({ seq, heard, batches: this.#open.batches });
    }
    const { batches, time: before } = this.#open;
    if (time === before) batches.at(-1)?.push(chunk);
    else batches.push([chunk]);
    this.#open.time = time;
    if (chunk.type === 'finish') this.#open = undefined;
  }

  /** The recorded wait is over by now: it is not waited for again. */
  #retried(): void {
    this.end();
    const batch = this.takes.at(-1)?.batches.at(-1) as StreamChunk[] | undefined;
    const finish = batch?.at(-1);
    if (batch === undefined || finish?.type !== 'finish' || finish.reason.kind !== 'error') return;
    const { providerRetryAfterMs: _, ...failure } = finish.reason.failure;
    batch[batch.length - 1] = { ...finish, reason: { kind: 'error', failure } };
  }

  #show(event: SessionEvent): void {
    const { seq, surfaceOp } = event;
    const message = messageOf(event);
    if (surfaceOp === undefined || message === undefined) return;
    if (surfaceOp === 'append') {
      this.#surface.push({ seq, message });
      return;
    }
    const { start, end } = surfaceOp;
    const at = this.#surface.findIndex((node) => node.seq === start);
    const removed = this.#surface.findIndex((node) => node.seq === end) - at + 1;
    // A result that was cut shorter is the message that it was before.
    this.#surface.splice(at, removed, { seq: event.type === 'tool/result' ? start : seq, message });
  }
}

function messageOf(event: SessionEvent): Message | undefined {
  if (isEvent(event, 'user/message')) return event.data;
  return isEvent(event, 'assistant/message') || isEvent(event, 'tool/result') ? event.data.message : undefined;
}

const CUT: FinishReason = {
  kind: 'aborted',
  failure: { code: 'ABORTED', message: 'the recorded answer was cut off here' },
};
