import { inject, injectable } from 'inversify';
import { serviceId } from '../kernel/index.js';
import { Logger } from '../logging/index.js';
import type { SdkRunStatus, SessionEvent } from '../protocol/index.js';
import type { NotificationListener, Notifications } from './notifications.js';
import type { Session } from './session.js';

/** Asked on first use, not on construction: a listener may depend on services that depend on {@link Notifications}. */
export type NotificationListeners = () => readonly NotificationListener[];
/** Runtime scope; bound together with {@link Notifications}. */
export const NotificationListeners = serviceId<NotificationListeners>('NotificationListeners');

/**
 * Tells listeners one after another, without waiting. The first failure of each is logged, the rest are passed over.
 */
@injectable()
export class ListenerNotifications implements Notifications {
  #resolved: readonly NotificationListener[] | undefined;
  readonly #failed = new WeakSet<NotificationListener>();
  readonly #logger: Logger;

  constructor(
    @inject(NotificationListeners) private readonly listeners: NotificationListeners,
    @inject(Logger) logger: Logger,
  ) {
    this.#logger = logger.child('notifications');
  }

  sessionEvent(session: Session, event: SessionEvent, json: string): void | Promise<void> {
    let behind: Promise<void> | undefined;
    for (const listener of this.#all()) {
      try {
        const pending = listener.sessionEvent?.(session, event, json);
        if (pending === undefined) continue;
        const contained = pending.catch((thrown: unknown) => this.#report(listener, thrown));
        behind = behind === undefined ? contained : Promise.all([behind, contained]).then(() => undefined);
      } catch (thrown) {
        this.#report(listener, thrown);
      }
    }
    return behind;
  }

  sessionStatus(sessionId: string, status: SdkRunStatus): void {
    for (const listener of this.#all()) {
      try {
        listener.sessionStatus?.(sessionId, status);
      } catch (thrown) {
        this.#report(listener, thrown);
      }
    }
  }

  #all(): readonly NotificationListener[] {
    this.#resolved ??= this.#resolve();
    return this.#resolved;
  }

  #resolve(): readonly NotificationListener[] {
    try {
      return this.listeners();
    } catch (error) {
      this.#logger.error('notification listeners could not be made', { error });
      return [];
    }
  }

  /** A listener that fails on every token is heard of once. */
  #report(listener: NotificationListener, error: unknown): void {
    if (this.#failed.has(listener)) return;
    this.#failed.add(listener);
    this.#logger.error('a notification listener failed; later failures of it are not shown', {
      listener: listener.constructor.name,
      error,
    });
  }
}
