import { MAX_TIMER_MS } from '../base/index.js';
import type { Activity } from './activity.js';

/** Fulfils after so many milliseconds, or when the activity is aborted; leaves no timer behind. */
export async function wait(ms: number, activity: Activity): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.min(ms, MAX_TIMER_MS));
  });
  try {
    await activity.until(over);
  } finally {
    clearTimeout(timer);
  }
}
