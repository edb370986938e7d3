import { Deferred, toError } from '../base/index.js';
import type { HarnessNotification } from '../protocol/index.js';
import { ClosedReason, TransportClosedError } from './errors.js';

/** Chooses notifications. One that throws ends its own subscription with what it threw, and nothing else. */
export type NotificationFilter = (notification: HarnessNotification) => boolean;

/**
 * A queue of notifications in wire order, unbounded, from the moment of the subscription on; nothing earlier is
 * replayed (core §6.1). A notification of a newer runtime may have a `method` that the types do not list.
 *
 * When the conversation ends, what is queued stays readable; the failure comes after it.
 */
export class NotificationSubscription implements AsyncIterable<HarnessNotification> {
  readonly #onEnd: (subscription: NotificationSubscription) => void;
  readonly #waiters: Deferred<HarnessNotification>[] = [];
  #queue: HarnessNotification[] = [];
  #head = 0;
  #failure: Error | undefined;

  /** @internal */
  constructor(onEnd: (subscription: NotificationSubscription) => void) {
    this.#onEnd = onEnd;
  }

  /** Why nothing more will be queued; undefined while the subscription lives. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /**
   * The next notification. Concurrent calls are served in order.
   *
   * @throws TransportClosedError the conversation ended, or the subscription was closed
   * @throws FrameTooLargeError a frame was lost
   * @throws whatever the filter threw
   */
  next(): Promise<HarnessNotification> {
    const queued = this.tryNext();
    if (queued !== undefined) return Promise.resolve(queued);
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const waiter = new Deferred<HarnessNotification>();
    this.#waiters.push(waiter);
    return waiter.promise;
  }

  /** The next notification if one is queued; never waits and never throws. */
  tryNext(): HarnessNotification | undefined {
    const item = this.#queue[this.#head];
    if (item === undefined) return undefined;
    this.#head++;
    // Half of it is read: copying the rest costs each item once, and what was read is let go.
    if (this.#head * 2 >= this.#queue.length) {
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  /** Drops what is queued and rejects whoever waits with `notification subscription closed`. Idempotent. */
  close(): void {
    this.#queue = [];
    this.#head = 0;
    this.fail(new TransportClosedError(ClosedReason.subscriptionClosed));
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** Repeats {@link next}; leaving the loop closes the subscription. */
  async *[Symbol.asyncIterator](): AsyncGenerator<HarnessNotification, void, undefined> {
    try {
      for (;;) yield this.tryNext() ?? (await this.next());
    } finally {
      this.close();
    }
  }

  /** @internal Queues, if `filter` lets it. */
  push(notification: HarnessNotification, filter?: NotificationFilter): void {
    if (this.#failure !== undefined) return;
    try {
      if (filter !== undefined && !filter(notification)) return;
    } catch (thrown) {
      this.fail(toError(thrown));
      return;
    }
    const waiter = this.#waiters.shift();
    if (waiter === undefined) this.#queue.push(notification);
    else waiter.resolve(notification);
  }

  /** @internal Ends the queue behind what it holds. The first failure stays. */
  fail(failure: Error): void {
    if (this.#failure !== undefined) return;
    this.#failure = failure;
    this.#onEnd(this);
    for (const waiter of this.#waiters.splice(0)) waiter.reject(failure);
  }
}
