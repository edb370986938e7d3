import type { HarnessClient } from './harness-client.js';
import { type RunInput, type RunOptions, runPrompt } from './run.js';
import type { RunResult } from './run-result.js';

/** A conversation by its id. A handle only: making one sends nothing, and there is nothing to close. */
export class HarnessSession {
  readonly id: string;
  readonly #start: () => Promise<HarnessClient>;

  /** @internal */
  constructor(id: string, start: () => Promise<HarnessClient>) {
    this.id = id;
    this.#start = start;
  }

  /**
   * Sends a prompt and settles when the session is idle again. Await one run before the next: the turns of a
   * session follow one another, and of two runs at once each collects from its own receipt to the next idle, so both may
   * end with the answer to the later prompt.
   *
   * A turn that failed resolves: see `RunResult.outcome`.
   *
   * @throws TypeError the input or an option is of the wrong kind; nothing was sent
   * @throws JsonRpcResponseError the runtime refused the prompt
   * @throws RequestTimeoutError `timeoutMs` passed, or `requestTimeoutMs` before the receipt
   * @throws SdkProtocolError an event of the session is malformed
   * @throws FrameTooLargeError a frame was lost; the runtime lives on
   * @throws TransportClosedError the runtime ended or could not be started
   */
  run(input: RunInput, options: RunOptions = {}): Promise<RunResult> {
    return runPrompt(this.#start, this.id, input, options);
  }
}
