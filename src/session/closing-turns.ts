/** From the first of several logs to be closed, in ms: what is not done by then is closed as it is. */
const PACKING_MS = 100;
/** Packing is work for a core: more logs at a time would only delay each other. */
const AT_ONCE = 4;

/**
 * Bounds how long closing logs takes, be they many or long. A few at a time may pack what they hold; when that has gone
 * on for 100 ms, they are told to give it up, and all others are closed at once and as they are. Begins anew when none
 * is being closed any more.
 */
export class ClosingTurns {
  #asked = 0;
  #running = 0;
  readonly #waiting: (() => void)[] = [];
  #deadline = 0;
  #timer: NodeJS.Timeout | undefined;
  #hurry = new AbortController();

  /**
   * Runs `close` when it is its turn. Settles as it does.
   *
   * @param close is aborted, or given an aborted signal, when it has to hurry
   */
  async run(close: (hurry: AbortSignal) => Promise<void>): Promise<void> {
    this.#asked += 1;
    if (this.#asked === 1) this.#begin();
    if (this.#running >= AT_ONCE && !this.#isLate()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#running += 1;
    try {
      this.#isLate();
      await close(this.#hurry.signal);
    } finally {
      this.#running -= 1;
      this.#asked -= 1;
      this.#waiting.shift()?.();
      if (this.#asked === 0) clearTimeout(this.#timer);
    }
  }

  #begin(): void {
    this.#hurry = new AbortController();
    this.#deadline = performance.now() + PACKING_MS;
    this.#timer = setTimeout(() => {
      this.#hurry.abort();
      for (const release of this.#waiting.splice(0)) release();
    }, PACKING_MS);
  }

  /** The clock, too: packing may keep the timer from firing. */
  #isLate(): boolean {
    if (performance.now() >= this.#deadline) this.#hurry.abort();
    return this.#hurry.signal.aborted;
  }
}
