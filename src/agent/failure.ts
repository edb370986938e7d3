import { describeError, errorCode } from '../base/index.js';
import type { LlmFailure } from '../protocol/index.js';

/**
 * What a `turn/end` says of something thrown: an LlmError's facts, else `STORE_FAILED` (decision 2) or `UNKNOWN`, and
 * its messages joined by `: ` (core §3.6). An LlmError is known by its shape, since it may be another copy's. Only known
 * facts are taken, so the result can always be logged.
 */
export function failureOf(thrown: unknown): LlmFailure {
  const facts = (thrown as { failure?: Partial<LlmFailure> } | null | undefined)?.failure;
  if (typeof facts?.code !== 'string' || typeof facts.message !== 'string') {
    return { message: describeError(thrown), code: errorCode(thrown) === 'STORE_FAILED' ? 'STORE_FAILED' : 'UNKNOWN' };
  }
  const { message, code, status, providerRetryAfterMs, requestId } = facts;
  return {
    message,
    code,
    ...(Number.isFinite(status) && { status }),
    ...(Number.isFinite(providerRetryAfterMs) && { providerRetryAfterMs }),
    ...(typeof requestId === 'string' && { requestId }),
  } as LlmFailure;
}
