import { serviceId } from '../kernel/index.js';
import type { ContentBlock, ToolDefinition } from '../protocol/index.js';

/** A call as the model made it; `arguments` is its raw text (core §3.5). */
export interface ToolCallRequest {
  readonly callId: string;
  readonly name: string;
  readonly arguments: string;
}
/** How a call ended, ready for `tool/result`: never a throw. */
export interface ToolOutcome {
  readonly content: readonly ContentBlock[];
  readonly isError: boolean;
  /** Coded harness failures only (core §2.8). */
  readonly error?: { readonly name: string; readonly code: string };
  /** The turn ends with this call, unless a message is waiting for its next step. */
  readonly concludesTurn?: true;
}

/** The tools of one session and the pipeline of a call: resolve, parse, validate, execute, render. Session scope. */
export interface ToolExecutor {
  /** What the model is told, in lexicographic name order. */
  readonly definitions: readonly ToolDefinition[];
  /** Whether the call may run beside others: its tool says exactly `true` of these arguments (core §3.5). Never throws. */
  isConcurrencySafe(request: ToolCallRequest): boolean;
  /** Runs one call. `signal` already aborted: `ABORTED_BEFORE_DISPATCH`, the body does not run. */
  execute(request: ToolCallRequest, signal: AbortSignal): Promise<ToolOutcome>;
}
/** Session scope; made when the session opens, when it also judges the tools. */
export const ToolExecutor = serviceId<ToolExecutor>('ToolExecutor');
