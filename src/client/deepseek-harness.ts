import { randomBytes } from 'node:crypto';
import { ClosedReason, TransportClosedError } from './errors.js';
import { HarnessClient } from './harness-client.js';
import { HarnessSession } from './harness-session.js';
import { InProcessConnection, type RuntimeSource } from './in-process-connection.js';
import { object, text } from './option-checks.js';
import { checkInProcessOptions, type DeepSeekHarnessOptions, type InProcessOptions } from './options.js';
import type { RunInput, RunOptions } from './run.js';
import type { RunResult } from './run-result.js';
import type { RuntimeConnector } from './runtime-connection.js';

/**
 * An agent runtime in a child process: prompts in, answers out (core §6.3).
 *
 * The process starts with the first use. When its handshake fails it is ended, and the next use tries again with a new
 * one. A process that dies later is not replaced: make a new harness. Whoever made the harness closes it.
 *
 * ```js
 * const harness = new DeepSeekHarness({ profile: 'sdk-minimal', cwd: '/srv/job' });
 * try {
 *   const { finalResponse, outcome } = await harness.run('How many tests are there?');
 * } finally {
 *   await harness.close();
 * }
 * ```
 */
export class DeepSeekHarness {
  readonly #options: DeepSeekHarnessOptions;
  readonly #connect: RuntimeConnector | undefined;
  #client: HarnessClient;
  #ready: Promise<HarnessClient> | undefined;
  #closed = false;

  /**
   * Starts nothing.
   *
   * @param connect where the conversation comes from; default: a process as the options say
   * @throws TypeError an option is unknown or of the wrong kind, or two contradict each other
   */
  constructor(options: DeepSeekHarnessOptions = {}, connect?: RuntimeConnector) {
    this.#options = options;
    this.#connect = connect;
    this.#client = new HarnessClient(options, connect);
  }

  /**
   * A harness on a runtime in this process, without a child; closing it closes the runtime. `createRuntime(…).harness()`
   * is the short way (decision 23).
   */
  static inProcess(source: RuntimeSource, options: InProcessOptions = {}): DeepSeekHarness {
    checkInProcessOptions(options);
    return new DeepSeekHarness(options, (hooks) => new InProcessConnection(source, hooks));
  }

  /**
   * Starts the runtime and waits for its handshake; `run` does this by itself. Concurrent calls share one attempt.
   *
   * @throws JsonRpcResponseError the runtime refused, for instance an unknown model
   * @throws RequestTimeoutError `initializeTimeoutMs` passed
   * @throws TransportClosedError the process could not be started, ended, or the harness is closed
   * @throws AggregateError the handshake failed and so did ending the process; both errors are in it
   */
  async start(): Promise<void> {
    await this.#started();
  }

  /** A session by its id, or a new one. Nothing is sent. @throws TypeError the id is blank */
  session(id: string = `session-${randomBytes(16).toString('hex')}`): HarnessSession {
    text('sessionId', id);
    return new HarnessSession(id, () => this.#started());
  }

  /** {@link HarnessSession.run} in the session `sessionId`; without one, in a new session. */
  async run(input: RunInput, options: RunOptions & { readonly sessionId?: string } = {}): Promise<RunResult> {
    object('options', options);
    const { sessionId, ...own } = options;
    return this.session(sessionId).run(input, own);
  }

  /**
   * Ends the runtime as {@link HarnessClient.close} says. Runs still going resolve with outcome `closed` when the
   * runtime closes their turns in time, else they reject. Final and idempotent.
   *
   * @throws Error the process could not be ended; a later call tries again
   */
  close(): Promise<void> {
    this.#closed = true;
    return this.#client.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #started(): Promise<HarnessClient> {
    if (this.#closed) return Promise.reject(new TransportClosedError(ClosedReason.clientClosed));
    this.#ready ??= this.#attempt(this.#client).catch((thrown: unknown) => {
      this.#ready = undefined;
      throw thrown;
    });
    return this.#ready;
  }

  async #attempt(client: HarnessClient): Promise<HarnessClient> {
    try {
      await client.initialize();
      return client;
    } catch (failure) {
      await client.close().catch((cleanup: unknown) => {
        // The client stays: it owns a process, and `close()` tries again to end it.
        throw new AggregateError([failure, cleanup], 'DeepSeek Harness initialization and cleanup failed');
      });
      if (!this.#closed) this.#client = new HarnessClient(this.#options, this.#connect);
      throw failure;
    }
  }
}
