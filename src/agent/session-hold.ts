import { contributionPoint } from '../kernel/index.js';

/**
 * Contribution point, session scope: what a session owns and would lose by being evicted, such as a live shell.
 * Contained: a throw is logged and counts as a hold.
 */
export interface SessionHold {
  readonly name: string;
  /** Whether it is there now. Asked when the session is due to be evicted, and again after the idle timeout. */
  holds(): boolean;
}
/** Asked session by session; one that holds keeps its session live (decision 40). */
export const SessionHold = contributionPoint<SessionHold>('SessionHold');
