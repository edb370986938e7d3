import { LlmError } from './errors.js';

/** Every effort there is, from least to most (core §5.2); `off` turns thinking off. */
export const REASONING_EFFORTS = ['off', 'low', 'high', 'max'] as const;
/** One of {@link REASONING_EFFORTS}. */
export type ReasoningEffort = (typeof REASONING_EFFORTS)[number];

/** @throws LlmError `UNSUPPORTED_REASONING_EFFORT` for an effort that is set and not among the supported ones */
export function checkReasoningEffort(effort: string | undefined, supported: readonly string[]): void {
  if (effort === undefined || supported.includes(effort)) return;
  const instead = supported.length === 0 ? 'the model takes none' : `use one of: ${supported.join(', ')}`;
  throw new LlmError({
    code: 'UNSUPPORTED_REASONING_EFFORT',
    message: `reasoning effort "${effort}" is not supported, ${instead}`,
  });
}
