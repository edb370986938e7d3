import type { InboxTarget, SessionEventMap, UserMessage } from '../protocol/index.js';

type Splice = SessionEventMap['agent/inbox/spliced'];

/** What is waiting for the agent, folded from `agent/inbox/spliced` events (core §2.12). */
export class InboxFold {
  readonly #lists: Record<InboxTarget, UserMessage[]> = { 'next-turn': [], 'next-step': [] };
  /** Of both lists. */
  readonly #ids = new Set<string>();

  /** Copies of the lists, each in order. */
  get pending(): Readonly<Record<InboxTarget, readonly UserMessage[]>> {
    return { 'next-turn': [...this.#lists['next-turn']], 'next-step': [...this.#lists['next-step']] };
  }

  /** Why a splice does not fit the lists as they are, undefined when it does; changes nothing. */
  problem({ target, start, removedCount = 0, inserted }: Splice): string | undefined {
    if (!Object.hasOwn(this.#lists, target)) return 'target must be "next-turn" or "next-step"';
    const list = this.#lists[target];
    if (!isIndex(start, list.length)) return `start must be 0 to ${list.length}, the length of ${target}`;
    const removable = list.length - start;
    if (!isIndex(removedCount, removable)) return `removedCount must be 0 to ${removable}, what follows start`;
    if (!Array.isArray(inserted) || !inserted.every(isMessage)) return 'inserted must be a list of messages';
    const removed = new Set(list.slice(start, start + removedCount).map(({ id }) => id));
    const added = new Set<string>();
    for (const { id } of inserted) {
      if (added.has(id) || (this.#ids.has(id) && !removed.has(id))) {
        return `inserts message ${JSON.stringify(id)}, which is in the inbox already`;
      }
      added.add(id);
    }
    return undefined;
  }

  /** Takes a splice without a {@link problem}. */
  commit({ target, start, removedCount = 0, inserted }: Splice): void {
    for (const { id } of this.#lists[target].splice(start, removedCount, ...inserted)) this.#ids.delete(id);
    for (const { id } of inserted) this.#ids.add(id);
  }
}

function isIndex(value: unknown, max: number): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max;
}

function isMessage(value: unknown): value is UserMessage {
  const { id, content } = (value ?? {}) as { readonly id?: unknown; readonly content?: unknown };
  return typeof id === 'string' && Array.isArray(content);
}
