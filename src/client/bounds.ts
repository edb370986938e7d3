import { abortError, Deferred } from '../base/index.js';
import { onAbort } from './on-abort.js';

/** What may end a piece of work before it is done. */
export interface Bounds {
  readonly signals: readonly (AbortSignal | undefined)[];
  readonly timeoutMs?: number | undefined;
  /** The error of the timeout. */
  readonly timeout: () => Error;
}

/**
 * Settles with `work`, unless a bound strikes first: then it rejects at once with a signal's reason or the timeout's
 * error, the signal that `work` was given aborts with the same, and what becomes of `work` is ignored. Neither timer nor
 * listener outlives the promise.
 */
export async function withBounds<T>(bounds: Bounds, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const signals = bounds.signals.filter((signal) => signal !== undefined);
  for (const signal of signals) if (signal.aborted) throw abortError(signal);
  const controller = new AbortController();
  const struck = new Deferred<never>();
  const strike = (reason: Error): void => {
    controller.abort(reason);
    struck.reject(reason);
  };
  const releases = signals.map((signal) => onAbort(signal, () => strike(abortError(signal))));
  const { timeoutMs } = bounds;
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => strike(bounds.timeout()), timeoutMs);
  try {
    return await Promise.race([work(controller.signal), struck.promise]);
  } finally {
    clearTimeout(timer);
    for (const release of releases) release();
  }
}

/** Whether `promise` settles within `ms`. The wait is spread over several timers: one that is late lets events in. */
export async function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const rounds = 5;
  let settled = false;
  const mark = (): void => {
    settled = true;
  };
  const watched = promise.then(mark, mark);
  for (let round = 0; round < rounds && !settled; round++) {
    let timer: NodeJS.Timeout | undefined;
    const tick = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms / rounds);
    });
    await Promise.race([watched, tick]);
    clearTimeout(timer);
  }
  return settled;
}
