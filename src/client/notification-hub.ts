import type { HarnessNotification } from '../protocol/index.js';
import { type NotificationFilter, NotificationSubscription } from './notification-subscription.js';

/**
 * Hands notifications to subscriptions and remembers which session descends from which (core §6.1).
 *
 * Lineage is recorded from every `subagent.started`, whoever listens; the last parent wins and nothing is forgotten.
 * Subscriptions to a session tree are indexed by their root, so that a notification costs its session's depth, not the
 * number of subscriptions.
 */
export class NotificationHub {
  readonly #parents = new Map<string, string>();
  readonly #filtered = new Map<NotificationSubscription, NotificationFilter | undefined>();
  readonly #trees = new Map<string, Set<NotificationSubscription>>();
  #end: Error | undefined;

  subscribe(filter?: NotificationFilter): NotificationSubscription {
    const subscription = new NotificationSubscription((ended) => this.#filtered.delete(ended));
    if (this.#end === undefined) this.#filtered.set(subscription, filter);
    else subscription.fail(this.#end);
    return subscription;
  }

  /**
   * The `session.*` notifications of `root` and its descendants, and the `subagent.*` ones whose parent is among them or
   * whose child is `root`.
   */
  subscribeTree(root: string): NotificationSubscription {
    const subscription = new NotificationSubscription((ended) => this.#leaveTree(root, ended));
    if (this.#end !== undefined) {
      subscription.fail(this.#end);
      return subscription;
    }
    const members = this.#trees.get(root);
    if (members === undefined) this.#trees.set(root, new Set([subscription]));
    else members.add(subscription);
    return subscription;
  }

  dispatch(notification: HarnessNotification): void {
    const params = notification.params as unknown as Readonly<Record<string, unknown>>;
    if (notification.method === 'subagent.started') this.#record(params.childSessionId, params.parentSessionId);
    for (const [subscription, filter] of this.#filtered) subscription.push(notification, filter);
    if (this.#trees.size > 0) this.#dispatchToTrees(notification, params);
  }

  /** Fails every open subscription, behind what it has queued. */
  failOpen(failure: Error): void {
    for (const subscription of [...this.#filtered.keys()]) subscription.fail(failure);
    for (const members of [...this.#trees.values()]) {
      for (const subscription of [...members]) subscription.fail(failure);
    }
  }

  /** {@link failOpen}, and the same for every later subscription. The first end stays. */
  end(failure: Error): void {
    this.#end ??= failure;
    this.failOpen(this.#end);
  }

  #record(child: unknown, parent: unknown): void {
    if (typeof child !== 'string' || typeof parent !== 'string') return;
    if (child !== '' && parent !== '' && child !== parent) this.#parents.set(child, parent);
  }

  #dispatchToTrees(notification: HarnessNotification, params: Readonly<Record<string, unknown>>): void {
    if (notification.method.startsWith('session.')) {
      for (const root of this.#ancestry(params.sessionId)) this.#push(root, notification);
    } else if (notification.method.startsWith('subagent.')) {
      const roots = new Set(this.#ancestry(params.parentSessionId));
      if (typeof params.childSessionId === 'string') roots.add(params.childSessionId);
      for (const root of roots) this.#push(root, notification);
    }
  }

  #push(root: string, notification: HarnessNotification): void {
    for (const subscription of this.#trees.get(root) ?? []) subscription.push(notification);
  }

  /** The session and its ancestors, each once: a child that was moved may have closed a circle. */
  #ancestry(sessionId: unknown): readonly string[] {
    if (typeof sessionId !== 'string') return [];
    const line = [sessionId];
    for (let at = this.#parents.get(sessionId); at !== undefined && !line.includes(at); at = this.#parents.get(at)) {
      line.push(at);
    }
    return line;
  }

  #leaveTree(root: string, subscription: NotificationSubscription): void {
    const members = this.#trees.get(root);
    members?.delete(subscription);
    if (members?.size === 0) this.#trees.delete(root);
  }
}
