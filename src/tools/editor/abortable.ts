/** How long work that was told to end may take to do so, in milliseconds. */
const GRACE_MS = 1_000;

/**
 * Waits for `work`, but after an abort only a grace longer: some file operations never return. What the work still does
 * after that is ignored.
 *
 * @throws the signal's reason when the grace is over, and what the work throws
 */
export function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const onAbort = (): void => {
      timer = setTimeout(() => reject(signal.reason), GRACE_MS);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    const letGo = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
    work.then(resolve, reject).finally(letGo);
  });
}
