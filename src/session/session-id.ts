import { CodedError } from '../base/index.js';

const MAX_ID_BYTES = 1024;

/**
 * Refuses what cannot be a session id (decision 13).
 *
 * @throws CodedError `INVALID_SESSION_ID`
 */
export function requireSessionId(id: string): void {
  const problem = problemOf(id);
  if (problem !== undefined) throw new CodedError('INVALID_SESSION_ID', `session id ${problem}`);
}

function problemOf(id: string): string | undefined {
  if (typeof id !== 'string' || id === '') return 'must be a non-empty string';
  if (!id.isWellFormed()) return 'must be well-formed text, without lone surrogates';
  if (Buffer.byteLength(id) > MAX_ID_BYTES) return `must not exceed ${MAX_ID_BYTES} bytes of UTF-8`;
  return undefined;
}
