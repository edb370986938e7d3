import { inject, injectable } from 'inversify';
import { CodedError } from '../base/index.js';
import type { InboxTarget, SessionEventMap, UserMessage } from '../protocol/index.js';
import { Session } from '../session/index.js';

/** A message on its way to a turn. */
export interface QueuedMessage {
  message: UserMessage;
  /** Whether it is a reason to run a turn. */
  readonly wakes: boolean;
  /** Whether its insertion is in the store; it is not claimed before. */
  stored: boolean;
}

/** The order in which a cancel clears them (core §3.7). */
const TARGETS = ['next-step', 'next-turn'] as const;

/**
 * What the agent has not read yet: one list for the next turn, one for the next step (core §3.2). Every change is an
 * `agent/inbox/spliced` event, so that folding those gives the lists.
 */
@injectable()
export class Inbox {
  readonly #lists: Record<InboxTarget, QueuedMessage[]> = { 'next-turn': [], 'next-step': [] };

  /** Begins with what the log says is pending. Of that, prompts ask for a turn; what was meant for a step does not. */
  constructor(@inject(Session) private readonly session: Session) {
    for (const target of TARGETS) {
      for (const message of session.pendingInbox[target]) {
        this.#lists[target].push({ message, wakes: target === 'next-turn', stored: true });
      }
    }
  }

  /** Whether nothing is waiting, nor on its way in. */
  get isEmpty(): boolean {
    return TARGETS.every((target) => this.#lists[target].length === 0);
  }

  /** Whether a claim at the start of a turn would give anything. */
  get hasClaimable(): boolean {
    return this.#claimable('next-turn') > 0 || this.hasNextStep;
  }

  /** Whether a claim at a later step would give anything. */
  get hasNextStep(): boolean {
    return this.#claimable('next-step') > 0;
  }

  /** Whether a claimable message asks for a turn. */
  get wakes(): boolean {
    return this.#claimable('next-turn') > 0 || this.#lists['next-step'].some((queued) => queued.wakes && queued.stored);
  }

  /** Puts a message, not stored yet, at the end of a list. Throws as {@link splice}. */
  push(target: InboxTarget, message: UserMessage, wakes: boolean): QueuedMessage {
    const queued: QueuedMessage = { message, wakes, stored: false };
    this.splice(target, this.#lists[target].length, 0, [queued]);
    return queued;
  }

  /** Removes a message that is still here, as cancelled. */
  takeBack(queued: QueuedMessage): void {
    for (const target of TARGETS) {
      const at = this.#lists[target].indexOf(queued);
      if (at >= 0) this.splice(target, at, 1, [], 'canceled');
    }
  }

  /**
   * The messages for a step: at a turn's first (`next-turn`) everything for the next step and then one prompt, later
   * (`next-step`) everything for the next step.
   */
  claim(target: InboxTarget): readonly UserMessage[] {
    const forStep = this.splice('next-step', 0, this.#claimable('next-step'), []);
    if (target === 'next-step') return forStep;
    return [...forStep, ...this.splice('next-turn', 0, Math.min(1, this.#claimable('next-turn')), [])];
  }

  /** Removes everything, as cancelled. */
  clear(): void {
    for (const target of TARGETS) this.splice(target, 0, this.#lists[target].length, [], 'canceled');
  }

  /**
   * Changes one list by the index rules of `Array.prototype.splice` and gives what it removed. Nothing to change: no
   * event. When this throws the lists are as before.
   *
   * @throws CodedError `DUPLICATE_MESSAGE`, and what {@link Session.append} throws
   */
  splice(
    target: InboxTarget,
    start: number,
    deleteCount: number,
    inserted: readonly QueuedMessage[],
    outcome?: 'canceled',
  ): readonly UserMessage[] {
    const list = this.#lists[target];
    const at = indexIn(list.length, start);
    const removed = list.slice(at, at + Math.max(0, integer(deleteCount)));
    if (removed.length === 0 && inserted.length === 0) return [];
    // The list changes before the event: whoever answers the event may splice again, in coordinates that count this one.
    list.splice(at, removed.length, ...inserted);
    try {
      this.#assertUnique(inserted);
      const event = this.session.append('agent/inbox/spliced', {
        target,
        start: at,
        ...(removed.length > 0 && { removedCount: removed.length }),
        inserted: inserted.map((queued) => queued.message),
        ...(outcome !== undefined && { outcome }),
      } satisfies SessionEventMap['agent/inbox/spliced']);
      event.data.inserted.forEach((message, index) => {
        const queued = inserted[index];
        if (queued !== undefined) queued.message = message;
      });
    } catch (thrown) {
      list.splice(at, inserted.length, ...removed);
      throw thrown;
    }
    return removed.map((queued) => queued.message);
  }

  /** A store keeps the order of events, so what it has not stored yet is the end of a list. */
  #claimable(target: InboxTarget): number {
    const list = this.#lists[target];
    const unstored = list.findIndex((queued) => !queued.stored);
    return unstored < 0 ? list.length : unstored;
  }

  #assertUnique(inserted: readonly QueuedMessage[]): void {
    const all = [...this.#lists['next-turn'], ...this.#lists['next-step']];
    const twice = inserted.find((queued) => all.filter((other) => other.message.id === queued.message.id).length > 1);
    if (twice === undefined) return;
    const id = JSON.stringify(twice.message.id);
    throw new CodedError('DUPLICATE_MESSAGE', `message ${id} is in the inbox already`);
  }
}

function indexIn(length: number, start: number): number {
  const index = integer(start);
  return index < 0 ? Math.max(0, length + index) : Math.min(index, length);
}

function integer(value: number): number {
  return Math.trunc(value) || 0;
}
