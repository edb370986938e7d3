/** When a failed model call is asked again, in the same step (core §3.6, decision 28). */
export interface RetryPolicy {
  /** `always`: any code, without a budget. */
  readonly mode: 'normal' | 'always';
  /** Retries after the first attempt; `normal` only. */
  readonly maxRetries: number;
  /** Failure codes that are retried; `normal` only. */
  readonly codes: readonly string[];
  /** The first delay, doubled by each retry up to `maxDelayMs`. */
  readonly initialDelayMs: number;
  readonly maxDelayMs: number;
  /** Each delay varies by up to this part of itself, 0 to 1. */
  readonly jitterRatio: number;
  /**
   * Milliseconds from the first failure for which an overloaded provider (429 without Retry-After, 503, 529) is asked
   * again, whatever `maxRetries` says.
   */
  readonly overloadBudgetMs: number;
}

/** Retries what may heal by itself: five times within about half a minute, an overload for two minutes. */
export const DEFAULT_RETRY_POLICY: RetryPolicy = Object.freeze({
  mode: 'normal',
  maxRetries: 5,
  codes: Object.freeze(['EMPTY_RESPONSE', 'RATE_LIMIT', 'SERVER', 'STREAM_CLOSED', 'TIMEOUT', 'TRANSPORT']),
  initialDelayMs: 500,
  maxDelayMs: 10_000,
  jitterRatio: 0.1,
  overloadBudgetMs: 120_000,
});
