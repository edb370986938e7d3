import { toError } from './errors.js';

/** Undoes one thing. It runs once at most; a throw or rejection does not stop the others. */
export type Teardown = () => void | Promise<void>;

/**
 * What has to be undone, undone in reverse: one at a time, past failures, once.
 *
 * `close()` is memoised. It rejects with an `AggregateError` of the failures, each naming its label, after everything
 * ran. What is deferred while closing runs next; what is deferred after it closed runs at once.
 */
export class TeardownStack {
  readonly #entries: { readonly label: string; readonly run: Teardown }[] = [];
  #closing: Promise<void> | undefined;
  #running: string | undefined;
  #done = false;

  /** Registers `run`; the returned function takes it back without running it. */
  defer(label: string, run: Teardown): () => void {
    const entry = { label, run };
    if (this.#done) {
      void Promise.resolve()
        .then(run)
        .catch(() => undefined);
      return () => undefined;
    }
    this.#entries.push(entry);
    return () => {
      const at = this.#entries.indexOf(entry);
      if (at >= 0) this.#entries.splice(at, 1);
    };
  }

  /** True from the moment `close()` is called, also while teardowns still run. */
  get closed(): boolean {
    return this.#closing !== undefined;
  }

  /** Labels of what has not finished yet, the running one first. */
  get pending(): readonly string[] {
    const waiting = this.#entries.map((entry) => entry.label).reverse();
    return this.#running === undefined ? waiting : [this.#running, ...waiting];
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const failures: Error[] = [];
    for (let entry = this.#entries.pop(); entry !== undefined; entry = this.#entries.pop()) {
      this.#running = entry.label;
      try {
        await entry.run();
      } catch (thrown) {
        failures.push(new Error(`teardown of ${entry.label} failed: ${toError(thrown).message}`, { cause: thrown }));
      }
      this.#running = undefined;
    }
    this.#done = true;
    if (failures.length > 0) {
      throw new AggregateError(failures, failures.map((failure) => failure.message).join('; '));
    }
  }
}
