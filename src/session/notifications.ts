import { contributionPoint, serviceId } from '../kernel/index.js';
import type { SdkRunStatus, SessionEvent } from '../protocol/index.js';
import type { Session } from './session.js';

/**
 * Contribution point, runtime scope: hears what the wire hears, in the same order (core §1.6, 1.8). Contained: a throw
 * is logged and undoes nothing. Must not append to the session it hears of.
 */
export interface NotificationListener {
  /**
   * Right after an append commits. `json` is the event as stored and sent.
   *
   * @returns nothing, or a promise while this listener is behind: the session's producer waits for it
   */
  sessionEvent?(session: Session, event: SessionEvent, json: string): void | Promise<void>;
  /** Whole-agent transitions only; alternating, `running` first. */
  sessionStatus?(sessionId: string, status: SdkRunStatus): void;
}
/** Collected at the first notification, in binding order. */
export const NotificationListener = contributionPoint<NotificationListener>('NotificationListener');

/** Hands notifications to every {@link NotificationListener}, in binding order. Never throws. */
export interface Notifications {
  sessionEvent(session: Session, event: SessionEvent, json: string): void | Promise<void>;
  sessionStatus(sessionId: string, status: SdkRunStatus): void;
}
/** Runtime scope; sessions tell it of events, agents of their status. */
export const Notifications = serviceId<Notifications>('Notifications');
