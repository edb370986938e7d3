import { Deferred } from '../../base/index.js';

/** What file work may take to undo itself after an abort, in milliseconds: none of it does if the system has it stuck. */
const GRACE_MS = 100;

/**
 * Waits for work that heeds `signal` between its steps, and shortly after an abort no longer: a step may be one of the
 * system's that never ends. Whatever such work still does is ignored.
 *
 * @throws what the work throws, and the signal's reason
 */
export async function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const abandoned = new Deferred<never>();
  let timer: NodeJS.Timeout | undefined;
  const onAbort = (): void => {
    timer = setTimeout(() => abandoned.reject(signal.reason), GRACE_MS);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    // The race also observes the rejection of work that ends too late.
    return await Promise.race([work, abandoned.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}
