/** Runs what concerns one path one after another, whatever its outcome; different paths do not wait for each other. */
export class PathLock {
  readonly #tails = new Map<string, Promise<unknown>>();

  /** Gives what `work` gives, or throws what it throws. `path` is compared as text. */
  async run<T>(path: string, work: () => Promise<T>): Promise<T> {
    const result = (this.#tails.get(path) ?? Promise.resolve()).then(work);
    const tail = result.catch(() => undefined);
    this.#tails.set(path, tail);
    try {
      return await result;
    } finally {
      if (this.#tails.get(path) === tail) this.#tails.delete(path);
    }
  }
}
