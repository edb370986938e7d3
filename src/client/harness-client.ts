import { resolve } from 'node:path';
import { toError } from '../base/index.js';
import {
  FrameTooLargeError,
  FrameTrace,
  type HarnessNotification,
  type InitializeParams,
  type InitializeResult,
  JsonRpcResponseError,
  type PromptBlock,
  SdkProtocolError,
} from '../protocol/index.js';
import { settlesWithin, withBounds } from './bounds.js';
import { ClosedReason, RequestTimeoutError, TransportClosedError } from './errors.js';
import { NotificationHub } from './notification-hub.js';
import type { NotificationFilter, NotificationSubscription } from './notification-subscription.js';
import { milliseconds } from './option-checks.js';
import { checkOptions, type HarnessClientOptions, type TimeBounds, timeBounds, timerMs } from './options.js';
import { ProcessConnection } from './process-connection.js';
import { quote } from './quote.js';
import type { RuntimeConnection, RuntimeConnector } from './runtime-connection.js';

/** A broken output tells its requests at once, and ends the conversation when its input was read. */
const overWaitMs = 250;

/**
 * The protocol's client: one runtime process, its requests and its notifications (core §6.1). For prompts and answers
 * `DeepSeekHarness` is the shorter way.
 *
 * A client is good for one process: it is started by the first use, and after its end every request fails. Whoever made
 * the client closes it.
 */
export class HarnessClient {
  readonly #options: HarnessClientOptions;
  readonly #bounds: TimeBounds;
  readonly #connect: RuntimeConnector;
  readonly #hub = new NotificationHub();
  #connection: RuntimeConnection | undefined;
  /** Why there is no conversation any more, or why it never began. */
  #dead: TransportClosedError | undefined;
  /** Aborts what is in flight when a frame was lost: it may have been anybody's answer. */
  #frameLoss = new AbortController();
  #closed = false;
  #closing: Promise<void> | undefined;
  #trace: FrameTrace | undefined;

  /**
   * @param connect where the conversation comes from; default: a process as the options say
   * @throws TypeError an option is unknown or of the wrong kind, or two contradict each other
   */
  constructor(options: HarnessClientOptions = {}, connect?: RuntimeConnector) {
    checkOptions(options);
    this.#bounds = timeBounds(options);
    this.#options = options;
    this.#connect = connect ?? ((hooks) => new ProcessConnection(options, hooks));
  }

  /**
   * Starts the process; it has not answered anything yet. Does nothing when it was started before.
   *
   * @throws TransportClosedError the client is closed, or the process cannot be started
   */
  start(): void {
    if (this.#closed) throw this.#failure(ClosedReason.clientClosed);
    if (this.#connection !== undefined) return;
    if (this.#dead !== undefined) throw this.#dead;
    const { maxFrameBytes, onDiagnostic } = this.#options;
    let connection: RuntimeConnection;
    try {
      const trace = this.#openTrace();
      connection = this.#connect({
        ...(trace !== undefined && { onFrame: trace.add }),
        ...(maxFrameBytes !== undefined && { maxFrameBytes }),
        ...(onDiagnostic !== undefined && { onDiagnostic }),
        onFrameTooLarge: (limit) => this.#loseFrame(new FrameTooLargeError(limit)),
      });
    } catch (thrown) {
      this.#trace?.close();
      const spawnError = toError(thrown);
      this.#end(new TransportClosedError(ClosedReason.failedToStart, { spawnError }, { cause: thrown }));
      throw this.#dead;
    }
    this.#connection = connection;
    connection.transport.onNotification((method, params) => {
      this.#hub.dispatch({ method, params } as unknown as HarnessNotification);
    });
    connection.transport.start();
    void connection.ended.then((failure) => {
      this.#trace?.close();
      this.#end(failure);
    });
  }

  /**
   * The handshake, bounded by `initializeTimeoutMs`. What `params` leaves out comes from the options.
   *
   * @throws JsonRpcResponseError the runtime refused
   * @throws RequestTimeoutError
   * @throws SdkProtocolError the answer names no server
   * @throws TransportClosedError the runtime ended, or could not be started
   */
  async initialize(params: Partial<InitializeParams> = {}): Promise<InitializeResult> {
    const { processCwd = '', reasoningEffort, maxTokens } = this.#options;
    const { provider = 'deepseek-official', model = 'deepseek-v4-flash' } = this.#options;
    const full: InitializeParams = {
      provider,
      model,
      ...(reasoningEffort !== undefined && { reasoningEffort }),
      ...(maxTokens !== undefined && { maxTokens }),
      ...params,
      cwd: resolve(params.cwd ?? this.#options.cwd ?? processCwd),
    };
    const result = await this.#send('initialize', full, this.#bounds.initializeTimeoutMs);
    const { name, version } = (result as Partial<InitializeResult> | null)?.serverInfo ?? {};
    if (typeof name === 'string' && typeof version === 'string') return result as InitializeResult;
    throw new SdkProtocolError(`initialize returned no server identity: ${quote(result)}`);
  }

  /**
   * Sends a prompt and settles with the id of its message: the prompt is in the session's log, its turn has not run.
   *
   * @param signal gives up waiting for the receipt; the prompt stays sent
   * @throws JsonRpcResponseError the runtime refused
   * @throws RequestTimeoutError, SdkProtocolError, FrameTooLargeError, TransportClosedError
   */
  async prompt(sessionId: string, contentBlocks: readonly PromptBlock[], signal?: AbortSignal): Promise<string> {
    const { requestTimeoutMs } = this.#bounds;
    const result = await this.#send('session/prompt', { sessionId, contentBlocks }, requestTimeoutMs, signal);
    const messageId = (result as { messageId?: unknown } | null)?.messageId;
    if (typeof messageId === 'string') return messageId;
    throw new SdkProtocolError(`session/prompt returned no message id: ${quote(result)}`);
  }

  /**
   * Sends any request and settles with its result as it came. Starts the process if need be.
   *
   * @param timeoutMs milliseconds; default: `requestTimeoutMs`. The work goes on, a late answer is ignored.
   * @throws JsonRpcResponseError the runtime answered with an error
   * @throws RequestTimeoutError, SdkProtocolError, FrameTooLargeError, TransportClosedError
   */
  async request(method: string, params: object = {}, timeoutMs?: number): Promise<unknown> {
    if (timeoutMs === undefined) return this.#send(method, params, this.#bounds.requestTimeoutMs);
    milliseconds('timeoutMs', timeoutMs);
    return this.#send(method, params, timerMs(timeoutMs));
  }

  /** Notifications from now on, of all sessions; with `filter`, those it returns true for. Close it when done. */
  subscribe(filter?: NotificationFilter): NotificationSubscription {
    return this.#hub.subscribe(filter);
  }

  /**
   * Notifications from now on of one session and its subagents at any depth. Which session descends from which is known
   * for everything that this client has seen, subscribed or not.
   */
  subscribeSessionTree(sessionId: string): NotificationSubscription {
    return this.#hub.subscribeTree(sessionId);
  }

  /**
   * Ends the runtime: a `shutdown` request, the end of stdin, SIGTERM, SIGKILL, each with its grace (core §6.2). Once it
   * settled no process of the runtime is left, and whoever still waits has been rejected. Final; idempotent; a client
   * that was never started only becomes closed.
   *
   * @throws Error the process could not be ended; a later call tries again
   */
  close(): Promise<void> {
    this.#closed = true;
    this.#closing ??= this.#close().catch((thrown: unknown) => {
      this.#closing = undefined;
      throw thrown;
    });
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** @throws CodedError `TRACE_FAILED` */
  #openTrace(): FrameTrace | undefined {
    const { trace, env = process.env, onDiagnostic } = this.#options;
    if (trace === undefined) return undefined;
    this.#trace = new FrameTrace(resolve(trace), env, (cause) =>
      onDiagnostic?.({ kind: 'trace-failed', message: cause.message, cause }),
    );
    return this.#trace;
  }

  async #close(): Promise<void> {
    const connection = this.#connection;
    if (connection !== undefined) {
      if (this.#dead === undefined) {
        await this.#exchange(connection, 'shutdown', {}, this.#bounds.shutdownTimeoutMs).catch((thrown: unknown) => {
          connection.note(`shutdown request failed: ${toError(thrown).message}`);
        });
      }
      await connection.close();
    }
    this.#end(this.#failure(ClosedReason.closed));
  }

  async #send(method: string, params: object, timeoutMs: number | undefined, signal?: AbortSignal): Promise<unknown> {
    this.start();
    const connection = this.#connection;
    if (connection === undefined || this.#dead !== undefined) throw this.#failure(ClosedReason.notRunning);
    return this.#exchange(connection, method, params, timeoutMs, signal);
  }

  async #exchange(
    connection: RuntimeConnection,
    method: string,
    params: object,
    timeoutMs: number | undefined,
    signal?: AbortSignal,
  ): Promise<unknown> {
    const timeout = (): Error => new RequestTimeoutError(method, timeoutMs ?? 0, connection);
    const signals = [this.#frameLoss.signal, signal];
    return withBounds({ signals, timeoutMs, timeout }, async (bound) => {
      try {
        return await connection.transport.request(method, params, bound);
      } catch (thrown) {
        if (bound.aborted || !(await this.#isOver(connection, thrown))) throw thrown;
        throw await connection.ended;
      }
    });
  }

  /** Whether a request failed because the conversation is over: then the process has something to say about it. */
  async #isOver({ transport }: RuntimeConnection, thrown: unknown): Promise<boolean> {
    // An answer, or params that cannot be written as JSON.
    const own = [JsonRpcResponseError, SdkProtocolError, TypeError, RangeError];
    if (own.some((type) => thrown instanceof type)) return false;
    return settlesWithin(transport.closed, overWaitMs);
  }

  #loseFrame(failure: FrameTooLargeError): void {
    const lost = this.#frameLoss;
    this.#frameLoss = new AbortController();
    lost.abort(failure);
    this.#hub.failOpen(failure);
  }

  #end(failure: TransportClosedError): void {
    this.#dead ??= failure;
    this.#hub.end(this.#dead);
  }

  #failure(reason: string): TransportClosedError {
    return this.#connection?.failure(reason) ?? new TransportClosedError(reason);
  }
}
