import { CodedError, describeError } from '../base/index.js';

/** The model asked for a tool that the session does not have. */
export class UnknownToolError extends CodedError {
  override readonly name = 'UnknownToolError';

  constructor(name: string) {
    super('UNKNOWN_TOOL', `unknown tool "${name}"`);
  }
}

/** The arguments are no JSON, or break the tool's schema; also for a tool's own rules on its arguments. */
export class InvalidArgsError extends CodedError {
  override readonly name = 'InvalidArgsError';

  constructor(message: string) {
    super('INVALID_ARGS', message);
  }
}

/** The call was cancelled before or while its body ran (core §2.8). */
export class AbortError extends CodedError {
  /** Spelled out: it is logged, and a bundler may rename the class. */
  override readonly name = 'AbortError';

  static beforeDispatch(): AbortError {
    return new AbortError('ABORTED_BEFORE_DISPATCH', 'tool call aborted before dispatch');
  }
  static whileRunning(cause?: unknown): AbortError {
    return new AbortError('ABORTED', 'tool call aborted', { cause });
  }
}

/** The body outlived the tool's `timeoutMs`; it was told by its signal and is awaited no longer. */
export class ToolTimeoutError extends CodedError {
  override readonly name = 'ToolTimeoutError';

  constructor(timeoutMs: number) {
    super('TOOL_TIMEOUT', `tool call timed out after ${timeoutMs}ms`);
  }
}

/** The body's value can be neither shown to the model nor logged. */
export class InvalidToolOutputError extends CodedError {
  override readonly name = 'InvalidToolOutputError';

  constructor(tool: string, reason: string) {
    super('INVALID_TOOL_OUTPUT', `tool "${tool}" returned a value that is not JSON: ${reason}`);
  }
}

/** A contributed tool that could never work: its author's mistake. */
export class InvalidToolError extends CodedError {
  override readonly name = 'InvalidToolError';

  constructor(tool: string, reason: string) {
    super('INVALID_TOOL', `tool "${tool}" ${reason}`);
  }

  static unusableSchema(tool: string, cause: unknown): InvalidToolError {
    return new InvalidToolError(tool, `has parameters that are no usable JSON Schema: ${describeError(cause)}`);
  }
}
