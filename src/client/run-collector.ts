import { isObject } from '../base/index.js';
import {
  type ContentBlock,
  type HarnessNotification,
  isEvent,
  SdkProtocolError,
  type SessionEvent,
  type SessionEventNotification,
  type TokenUsage,
  type TurnEndReason,
} from '../protocol/index.js';
import { PromptTracker } from './prompt-tracker.js';
import { quote } from './quote.js';
import { addUsage, errorOf, outcomeOf, type RunResult, textOf } from './run-result.js';

/**
 * Collects one run out of the notifications of a session tree: from the receipt of the prompt, inclusive, to the next
 * idle of the session, inclusive (core §6.3).
 */
export class RunCollector {
  readonly #sessionId: string;
  readonly #prompt: PromptTracker;
  readonly #events: SessionEvent[] = [];
  readonly #notifications: HarnessNotification[] = [];
  #started = false;
  #done = false;
  #lastContent: readonly ContentBlock[] = [];
  #usage: TokenUsage | undefined;
  #lastTurnEnd: TurnEndReason | undefined;

  /** @param messageId what the runtime answered to the prompt */
  constructor(sessionId: string, messageId: string) {
    this.#sessionId = sessionId;
    this.#prompt = new PromptTracker(messageId);
  }

  /** Whether the interval is complete. */
  get done(): boolean {
    return this.#done;
  }

  /**
   * Whether `notification` belongs to the run; to be asked of each, in wire order, before {@link add}.
   *
   * @throws SdkProtocolError an event of the session is malformed
   */
  wants(notification: HarnessNotification): boolean {
    const params = this.#rootParams(notification);
    if (params === undefined) return this.#started;
    this.#started ||= isEventLike(params.event) && this.#prompt.isReceipt(params.event);
    if (this.#started) checkEvent(params);
    return this.#started;
  }

  add(notification: HarnessNotification): void {
    this.#notifications.push(notification);
    const params = this.#rootParams(notification);
    if (params !== undefined) this.#addEvent(params.event);
    else if (notification.method === 'session.status' && notification.params.sessionId === this.#sessionId) {
      this.#done = notification.params.status === 'idle';
    }
  }

  /** What was collected. */
  result(): RunResult {
    const end = this.#prompt.turnEnd;
    return {
      sessionId: this.#sessionId,
      finalResponse: textOf(this.#lastContent),
      // Without an end of its own turn: a turn took the prompt and fell silent, or none ever took it.
      outcome: end === undefined ? (this.#prompt.claimed ? 'closed' : 'cancelled') : outcomeOf(end),
      finishReason: this.#lastTurnEnd?.kind,
      usage: this.#usage,
      error: end === undefined ? undefined : errorOf(end),
      events: this.#events,
      notifications: this.#notifications,
    };
  }

  #rootParams(notification: HarnessNotification): SessionEventNotification | undefined {
    const isRoot = notification.method === 'session.event' && notification.params.sessionId === this.#sessionId;
    return isRoot ? notification.params : undefined;
  }

  #addEvent(event: SessionEvent): void {
    this.#events.push(event);
    this.#prompt.observe(event);
    if (isEvent(event, 'assistant/message')) {
      this.#lastContent = event.data.message.content;
      this.#usage = addUsage(this.#usage, event.data.usage);
    } else if (isEvent(event, 'turn/end')) {
      this.#lastTurnEnd = event.data.reason;
    }
  }
}

function checkEvent(params: SessionEventNotification): void {
  const { event } = params;
  if (!isEventLike(event)) throw new SdkProtocolError(`session.event carried no event envelope: ${quote(params)}`);
  const data: unknown = event.data;
  if (event.type === 'assistant/message') {
    const message = isObject(data) ? data.message : undefined;
    const content = isObject(message) ? message.content : undefined;
    if (Array.isArray(content) && content.every((block) => isObject(block) && typeof block.type === 'string')) return;
    throw new SdkProtocolError(`assistant/message event carried malformed content: ${quote(event)}`);
  }
  if (event.type === 'turn/end') {
    const reason = isObject(data) ? data.reason : undefined;
    if (isObject(reason) && typeof reason.kind === 'string') return;
    throw new SdkProtocolError('turn/end event requires a string data.reason.kind');
  }
}

function isEventLike(event: unknown): event is SessionEvent {
  return isObject(event) && typeof event.type === 'string';
}
