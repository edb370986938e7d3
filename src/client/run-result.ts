import type {
  ContentBlock,
  HarnessNotification,
  LlmFailure,
  SessionEvent,
  TokenUsage,
  TurnEndReason,
} from '../protocol/index.js';

/**
 * How the prompt ended.
 *
 * - `completed`: the model answered.
 * - `max-tokens`: the answer was cut at the output limit.
 * - `blocked`: a policy refused the prompt.
 * - `budget`: a budget was used up.
 * - `error`: the turn failed; `RunResult.error` says why.
 * - `cancelled`: the turn was aborted, or the prompt left the queue before a turn took it.
 * - `closed`: the session or the runtime was closed first.
 */
export type RunOutcome = 'completed' | 'max-tokens' | 'cancelled' | 'blocked' | 'budget' | 'error' | 'closed';

/** Why a turn failed. */
export interface RunError {
  /** Stable, such as `AUTH` or `RATE_LIMIT`. */
  readonly code: string;
  readonly message: string;
  /** HTTP status of the model provider. */
  readonly status?: number;
  /** Milliseconds the provider asked to wait. */
  readonly retryAfterMs?: number;
  /** The provider's id of the failed request. */
  readonly requestId?: string;
}

/** What a prompt led to, from its receipt to the next idle of its session (core §6.3). */
export interface RunResult {
  readonly sessionId: string;
  /** The text of the session's last assistant message; `""` when there is none. */
  readonly finalResponse: string;
  /** How the turn of this prompt ended. A failed turn resolves: look here. */
  readonly outcome: RunOutcome;
  /** How the last turn of the interval ended, verbatim. Undefined when none did. */
  readonly finishReason: TurnEndReason['kind'] | undefined;
  /** Sum over the session's own model answers; undefined when none reported its tokens. */
  readonly usage: TokenUsage | undefined;
  /** Set when `outcome` is `error`. */
  readonly error: RunError | undefined;
  /** Events of this session, in order. */
  readonly events: readonly SessionEvent[];
  /** Everything received from this session and its descendants, statuses included, in wire order. */
  readonly notifications: readonly HarnessNotification[];
}

const sameName: ReadonlySet<string> = new Set(['completed', 'max-tokens', 'blocked', 'budget', 'error', 'cancelled']);

/** The outcome that a turn's end means for the prompt it served. A kind that is not known is an error. */
export function outcomeOf(reason: TurnEndReason): RunOutcome {
  if (reason.kind === 'aborted') return reason.reason?.kind === 'disposed' ? 'closed' : 'cancelled';
  if (reason.kind === 'interrupted') return 'closed';
  return sameName.has(reason.kind) ? (reason.kind as RunOutcome) : 'error';
}

/** @returns undefined when the turn did not fail */
export function errorOf(reason: TurnEndReason): RunError | undefined {
  if (outcomeOf(reason) !== 'error') return undefined;
  if (reason.kind !== 'error') return { code: 'UNKNOWN', message: `turn ended with unknown reason "${reason.kind}"` };
  const failure: Partial<LlmFailure> = reason.error ?? {};
  return {
    code: failure.code ?? 'UNKNOWN',
    message: failure.message ?? 'turn failed',
    ...(failure.status !== undefined && { status: failure.status }),
    ...(failure.providerRetryAfterMs !== undefined && { retryAfterMs: failure.providerRetryAfterMs }),
    ...(failure.requestId !== undefined && { requestId: failure.requestId }),
  };
}

/** Adds up member by member; a member that neither side reported stays absent. */
export function addUsage(sum: TokenUsage | undefined, more: TokenUsage | undefined): TokenUsage | undefined {
  if (sum === undefined || more === undefined) return sum ?? more;
  const total: Record<string, number> = { ...sum };
  for (const [name, count] of Object.entries(more)) total[name] = (total[name] ?? 0) + count;
  return total as unknown as TokenUsage;
}

/** The text blocks, joined. */
export function textOf(content: readonly ContentBlock[]): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}
