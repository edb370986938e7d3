import { describeError, errorCode } from '../base/index.js';
import { failureFacts } from '../model/index.js';
import type { LlmFailure } from '../protocol/index.js';

/**
 * What a `turn/end` says of something thrown: an LlmError's facts, else `STORE_FAILED` (decision 2) or `UNKNOWN`, and
 * its messages joined by `: ` (core §3.6).
 */
export function failureOf(thrown: unknown): LlmFailure {
  const code = errorCode(thrown) === 'STORE_FAILED' ? 'STORE_FAILED' : 'UNKNOWN';
  return failureFacts(thrown) ?? { message: describeError(thrown), code };
}
