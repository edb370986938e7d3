const EXIT_CODES = { SIGTERM: 0, SIGINT: 130, SIGHUP: 129 } as const;

/** What to do on a signal: `code` is the exit code it asks for. */
export type SignalHandler = (code: number, isFirst: boolean) => void;

/**
 * The signals that end the process, from the moment this is made; to be made before the rest is loaded. Without a
 * handler there is nothing to close yet, and the process exits with the signal's code.
 */
export class ProcessSignals {
  #handler: SignalHandler = (code) => process.exit(code);
  #count = 0;

  constructor() {
    for (const [signal, code] of Object.entries(EXIT_CODES)) {
      process.on(signal, () => {
        this.#count += 1;
        this.#handler(code, this.#count === 1);
      });
    }
  }

  handle(handler: SignalHandler): void {
    this.#handler = handler;
  }
}
