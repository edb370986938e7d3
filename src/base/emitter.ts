/** Synchronous listeners in subscription order. A listener that throws is contained: `onError` hears it, siblings run. */
export class Emitter<T> {
  readonly #listeners = new Set<(value: T) => void>();
  readonly #onError: (thrown: unknown) => void;

  constructor(onError: (thrown: unknown) => void) {
    this.#onError = onError;
  }

  /** Returns the unsubscribe function; idempotent. A listener added while emitting hears the next value. */
  on(listener: (value: T) => void): () => void {
    const own = (value: T): void => listener(value);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  /** Returns when every listener has heard `value`. Never throws, unless `onError` does. */
  emit(value: T): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(value);
      } catch (thrown) {
        this.#onError(thrown);
      }
    }
  }
}
