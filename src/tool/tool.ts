import { contributionPoint } from '../kernel/index.js';
import type { Logger } from '../logging/index.js';
import type { ContentBlock, JsonObject } from '../protocol/index.js';

/** What a tool's body gets besides its arguments. */
export interface ToolCallContext {
  readonly sessionId: string;
  readonly callId: string;
  /** Aborted when the turn is cancelled or the tool's `timeoutMs` is over: stop the work and reject. */
  readonly signal: AbortSignal;
  /** The session's workspace, absolute. */
  readonly cwd: string;
  readonly logger: Logger;
}

/**
 * Contribution point, runtime or session scope: something the model can call (decision 33). Names are unique.
 *
 * Throwing means the call failed: the model reads `Error: <message>` and the turn goes on; a `CodedError`'s code is
 * logged. A domain failure (a command that exits with 1) is a value, not a throw.
 */
export interface Tool<A extends object = JsonObject> {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments; the body sees only arguments that satisfy it. */
  readonly parameters: JsonObject;
  /**
   * @returns a string is text; an array whose every element has a known block `type` is content; anything else is JSON
   */
  execute(args: A, call: ToolCallContext): unknown;
  /** A call that succeeds ends the turn: the model is not asked again. */
  readonly concludesTurn?: true;
  /**
   * Only exactly `true` lets a call overlap with others. Default: exclusive. The arguments have not been judged yet; a
   * throw means no.
   */
  isConcurrencySafe?(args: A): boolean;
  /** Positive milliseconds; the call fails with `TOOL_TIMEOUT` afterwards. Default: none. */
  readonly timeoutMs?: number;
  /** Replaces the rendering above. */
  render?(value: unknown): string | readonly ContentBlock[];
}
/** The tools of a session are its own and the runtime's. Two of one name fail the boot, or the session's opening. */
export const Tool = contributionPoint<Tool>('Tool');
