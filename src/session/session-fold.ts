import {
  type InboxTarget,
  isEvent,
  type Message,
  type RequestHeader,
  type SessionEvent,
  type SessionEventMap,
  type UserMessage,
} from '../protocol/index.js';
import { invalidEvent } from './errors.js';
import { InboxFold } from './inbox-fold.js';
import { Surface } from './surface.js';
import { type OpenTurn, TurnTracker } from './turn-tracker.js';

/**
 * What a session's events come to: the history (core §2.2), open turn and step (core §2.13), the inbox (core §2.12),
 * the last header, context and title. Folding event by event gives the same as folding the whole log, and events
 * themselves are not kept.
 */
export class SessionFold {
  readonly #turns = new TurnTracker();
  readonly #surface = new Surface();
  readonly #inbox = new InboxFold();
  #nextSeq = 0;
  #lastTime = 0;
  #requestHeader: RequestHeader | undefined;
  #requestContext: SessionEventMap['request/context'] | undefined;
  #title: string | undefined;

  /** @param seedLength how many leading events were inherited: their inbox is not this session's (core §3.2) */
  constructor(private readonly seedLength = 0) {}

  get nextSeq(): number {
    return this.#nextSeq;
  }
  /** Of the last event, epoch milliseconds; 0 before the first. */
  get lastTime(): number {
    return this.#lastTime;
  }
  /** Number of the last turn started, 0 before the first. */
  get lastTurn(): number {
    return this.#turns.lastTurn;
  }
  /** What is open; undefined between turns. */
  get openTurn(): OpenTurn | undefined {
    return this.#turns.openTurn;
  }
  get pendingInbox(): Readonly<Record<InboxTarget, readonly UserMessage[]>> {
    return this.#inbox.pending;
  }
  get requestHeader(): RequestHeader | undefined {
    return this.#requestHeader;
  }
  get requestContext(): SessionEventMap['request/context'] | undefined {
    return this.#requestContext;
  }
  get title(): string | undefined {
    return this.#title;
  }

  /** The model-visible history, oldest first. */
  messages(): Message[] {
    return this.#surface.messages();
  }

  /**
   * Judges whether a sealed event may come next; changes nothing.
   *
   * @throws CodedError `INVALID_EVENT` naming the rule of core §2.2, 2.12 or 2.13
   */
  check(event: SessionEvent): void {
    this.#turns.check(event);
    if (event.surfaceOp !== undefined) this.#surface.check(event);
    else if (this.#isOwnSplice(event)) {
      const problem = this.#inbox.problem(event.data);
      if (problem !== undefined) throw invalidEvent(`${event.type}: ${problem}`);
    }
  }

  /** Takes an event that {@link check} passed. */
  commit(event: SessionEvent): void {
    this.#nextSeq = event.seq + 1;
    this.#lastTime = event.time;
    if (isEvent(event, 'assistant/chunk')) return;
    this.#turns.commit(event);
    if (event.surfaceOp !== undefined) this.#surface.commit(event);
    else if (isEvent(event, 'request/header')) this.#requestHeader = event.data.header;
    else if (isEvent(event, 'request/context')) this.#requestContext = event.data;
    else if (isEvent(event, 'session/title')) this.#title = event.data.title;
    else if (this.#isOwnSplice(event)) this.#inbox.commit(event.data);
  }

  /**
   * Takes the next event of a stored log; when it throws, nothing has changed.
   *
   * @throws Error the log has a defect here: what {@link check} throws, and for the inbox the text of core §3.2
   */
  read(event: SessionEvent): void {
    if (this.#isOwnSplice(event) && this.#inbox.problem(event.data) !== undefined) {
      throw new Error(`invalid persisted inbox splice at session seq ${event.seq}`);
    }
    this.check(event);
    this.commit(event);
  }

  #isOwnSplice(event: SessionEvent): event is Extract<SessionEvent, { type: 'agent/inbox/spliced' }> {
    return isEvent(event, 'agent/inbox/spliced') && event.seq >= this.seedLength;
  }
}

/** Folds a log that is at hand whole. Throws as {@link SessionFold.read} does. */
export function foldLog(events: Iterable<SessionEvent>, seedLength?: number): SessionFold {
  const fold = new SessionFold(seedLength);
  for (const event of events) fold.read(event);
  return fold;
}
