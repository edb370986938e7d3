import { isEvent, type SessionEvent, type SessionEventMap, type TurnEndReason } from '../protocol/index.js';

type Splice = SessionEventMap['agent/inbox/spliced'];

/**
 * Follows one prompt through its session's inbox to the turn that claims it and to that turn's end (core §2.12, §1.8).
 *
 * The inbox events name positions, not messages, so the prompt's place is kept up to date with every splice of its list.
 */
export class PromptTracker {
  readonly #messageId: string;
  #place: { readonly target: string; readonly index: number } | undefined;
  #claimed = false;
  #turnEnd: TurnEndReason | undefined;

  constructor(messageId: string) {
    this.#messageId = messageId;
  }

  /** Whether a turn took the prompt. */
  get claimed(): boolean {
    return this.#claimed;
  }

  /** How the turn that took the prompt ended; undefined until it did. */
  get turnEnd(): TurnEndReason | undefined {
    return this.#turnEnd;
  }

  /** Whether `event` puts the prompt into an inbox. */
  isReceipt(event: SessionEvent): boolean {
    return isEvent(event, 'agent/inbox/spliced') && this.#indexIn(event.data) >= 0;
  }

  /** Takes in the session's events in order, the receipt first. */
  observe(event: SessionEvent): void {
    if (isEvent(event, 'agent/inbox/spliced')) this.#splice(event.data);
    // Turns do not nest, so the first end after the claim is that of the turn that claimed.
    else if (isEvent(event, 'turn/end') && this.#claimed) this.#turnEnd ??= event.data.reason;
  }

  #splice(splice: Splice): void {
    const { target, start, removedCount = 0 } = splice ?? {};
    const inserted = this.#indexIn(splice);
    if (inserted >= 0) {
      this.#place = { target, index: start + inserted };
      return;
    }
    const place = this.#place;
    if (place === undefined || place.target !== target || place.index < start) return;
    if (place.index >= start + removedCount) {
      this.#place = { target, index: place.index + (splice.inserted?.length ?? 0) - removedCount };
      return;
    }
    this.#place = undefined;
    this.#claimed = splice.outcome !== 'canceled';
  }

  #indexIn(splice: Splice): number {
    const inserted: unknown = splice?.inserted;
    return Array.isArray(inserted) ? inserted.findIndex((message) => message?.id === this.#messageId) : -1;
  }
}
