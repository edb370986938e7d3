import {
  isEvent,
  type Message,
  type RequestHeader,
  type SessionEvent,
  type SessionEventMap,
} from '../protocol/index.js';

/** One event on the surface; an assistant message without content is a node that contributes no message. */
interface SurfaceNode {
  readonly seq: number;
  readonly message: Message | undefined;
}

/**
 * What a session's events come to: the surface (core §2.2), the last header and context (core §2.10), the last turn.
 * Folding event by event gives the same as folding the whole log, and events themselves are not kept.
 */
export class SessionFold {
  readonly #surface: SurfaceNode[] = [];
  #nextSeq = 0;
  #lastTurn = 0;
  #requestHeader: RequestHeader | undefined;
  #requestContext: SessionEventMap['request/context'] | undefined;

  get nextSeq(): number {
    return this.#nextSeq;
  }
  get lastTurn(): number {
    return this.#lastTurn;
  }
  get requestHeader(): RequestHeader | undefined {
    return this.#requestHeader;
  }
  get requestContext(): SessionEventMap['request/context'] | undefined {
    return this.#requestContext;
  }

  /** The model-visible history, oldest first. */
  messages(): Message[] {
    return this.#surface.flatMap(({ message }) => message ?? []);
  }

  /** Takes the next event, sealed and in order. */
  commit(event: SessionEvent): void {
    this.#nextSeq = event.seq + 1;
    if (isEvent(event, 'assistant/chunk')) return;
    if (event.surfaceOp !== undefined) this.#surface.push({ seq: event.seq, message: messageOf(event) });
    else if (isEvent(event, 'turn/start')) this.#lastTurn = event.data.turn;
    else if (isEvent(event, 'request/header')) this.#requestHeader = event.data.header;
    else if (isEvent(event, 'request/context')) this.#requestContext = event.data;
  }
}

function messageOf(event: SessionEvent): Message | undefined {
  if (isEvent(event, 'user/message')) return event.data;
  if (isEvent(event, 'tool/result')) return event.data.message;
  if (isEvent(event, 'assistant/message') && event.data.message.content.length > 0) return event.data.message;
  return undefined;
}
