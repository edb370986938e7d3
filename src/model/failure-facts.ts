import type { LlmFailure } from '../protocol/index.js';

/**
 * The facts of an LlmError, undefined for anything else. It is known by its shape, as it may be of another copy; only
 * known facts are taken, so that the result can always be logged.
 */
export function failureFacts(thrown: unknown): LlmFailure | undefined {
  const facts = (thrown as { failure?: Partial<LlmFailure> } | null | undefined)?.failure;
  if (typeof facts?.code !== 'string' || typeof facts.message !== 'string') return undefined;
  const { message, code, status, providerRetryAfterMs, requestId } = facts;
  return {
    message,
    code,
    ...(Number.isFinite(status) && { status }),
    ...(Number.isFinite(providerRetryAfterMs) && { providerRetryAfterMs }),
    ...(typeof requestId === 'string' && { requestId }),
  } as LlmFailure;
}
