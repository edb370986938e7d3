import { CodedError } from '../base/index.js';

/** What is known about the runtime process when an error is composed. */
export interface RuntimeContext {
  /** Why the process could not be started. */
  readonly spawnError?: Error | undefined;
  readonly exitCode?: number | undefined;
  /** Name of the signal that ended the process. */
  readonly signal?: string | undefined;
  /** The last lines of the runtime's stderr, oldest first. */
  readonly stderrTail?: readonly string[];
}

/**
 * The conversation with the runtime is over, or never began (core §6.1).
 *
 * The message is the reason, then a line each for what is known: `spawn error`, `exit code`, `signal`, `stderr tail`.
 */
export class TransportClosedError extends CodedError {
  override readonly name = 'TransportClosedError';
  /** The first line of the message, such as `DeepSeek Harness runtime exited`. */
  readonly reason: string;
  /** Undefined while the process runs, when it never ran, and when a signal ended it. */
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
  /** At most 400 lines, oldest first. */
  readonly stderrTail: readonly string[];

  constructor(reason: string, context: RuntimeContext = {}, options?: ErrorOptions) {
    const { spawnError, exitCode, signal, stderrTail = [] } = context;
    const lines = [reason];
    if (spawnError !== undefined) lines.push(`spawn error: ${spawnError.message}`);
    if (exitCode !== undefined) lines.push(`exit code: ${exitCode}`);
    if (signal !== undefined) lines.push(`signal: ${signal}`);
    if (stderrTail.length > 0) lines.push('stderr tail:', ...stderrTail);
    super('TRANSPORT_CLOSED', lines.join('\n'), options);
    this.reason = reason;
    this.exitCode = exitCode;
    this.signal = signal;
    this.stderrTail = stderrTail;
  }
}

/** The runtime did not answer in time. The process lives on, and so does the work it was asked for. */
export class RequestTimeoutError extends CodedError {
  override readonly name = 'RequestTimeoutError';
  /** The method that was not answered; `run` for the `timeoutMs` of a run. */
  readonly method: string;
  readonly timeoutMs: number;

  /** @param detail named after the message: which runtime it was, and the tail of its stderr */
  constructor(
    method: string,
    timeoutMs: number,
    detail: { readonly label?: string | undefined; readonly stderrTail?: readonly string[] } = {},
  ) {
    const { label, stderrTail = [] } = detail;
    const lines = [`${method} timed out after ${timeoutMs}ms waiting for the DeepSeek Harness runtime`];
    if (label !== undefined) lines.push(label);
    if (stderrTail.length > 0) lines.push('stderr tail:', ...stderrTail);
    super('REQUEST_TIMEOUT', lines.join('\n'));
    this.method = method;
    this.timeoutMs = timeoutMs;
  }
}

/** Reasons of {@link TransportClosedError} (core §6.1). */
export const ClosedReason = {
  clientClosed: 'DeepSeek Harness runtime client is closed',
  notRunning: 'DeepSeek Harness runtime is not running',
  failedToStart: 'DeepSeek Harness runtime failed to start',
  exited: 'DeepSeek Harness runtime exited',
  closed: 'DeepSeek Harness runtime closed',
  inputClosed: 'JSON-RPC input closed',
  subscriptionClosed: 'notification subscription closed',
} as const;
