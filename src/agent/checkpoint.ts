import type { Session } from '../session/index.js';
import type { Activity } from './activity.js';
import { failureOf } from './failure.js';

/** Waits until what was logged is safe, before the world is touched. A refusal aborts the turn (decision 2). */
export async function checkpoint(session: Session, activity: Activity): Promise<void> {
  if (activity.aborted) return;
  try {
    const saved = session.checkpoint();
    if (saved !== undefined) await activity.until(saved);
  } catch (thrown) {
    activity.abort({ kind: 'error', error: failureOf(thrown) });
  }
}
