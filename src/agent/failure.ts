import { describeError, errorCode } from '../base/index.js';
import { failureFacts } from '../model/index.js';
import type { LlmFailure } from '../protocol/index.js';

/** The codes of the log's own failures (decisions 2, 39). */
const LOG_FAILURES: ReadonlySet<string> = new Set(['STORE_FAILED', 'LEASE_LOST']);

/**
 * What a `turn/end` says of something thrown: an LlmError's facts, else the code of a log that cannot be written or
 * `UNKNOWN`, and its messages joined by `: ` (core §3.6).
 */
export function failureOf(thrown: unknown): LlmFailure {
  const code = errorCode(thrown);
  const known = code !== undefined && LOG_FAILURES.has(code) ? code : 'UNKNOWN';
  return failureFacts(thrown) ?? { message: describeError(thrown), code: known };
}
