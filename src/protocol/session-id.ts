const MAX_BYTES = 1_024;

/**
 * What keeps a value from being a session id (decision 13), as the end of a sentence; undefined when nothing does.
 * A session id is 1 to 1,024 bytes of well-formed UTF-8.
 */
export function sessionIdProblem(id: unknown): string | undefined {
  const isFit = typeof id === 'string' && id !== '' && id.isWellFormed() && Buffer.byteLength(id) <= MAX_BYTES;
  return isFit ? undefined : `must be a string of 1 to ${MAX_BYTES} bytes of well-formed UTF-8`;
}
