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
   * Sends a prompt and settles when the session is idle again. Prompts to one session run one after another; of two
   * runs at once, the first also collects what the second leads to.
   *
   * A turn that failed resolves: see `RunResult.outcome`.
   *
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
