import { CodedError } from '../base/index.js';

/** The id names a stored session that is not live. */
export class SessionStoredError extends CodedError {
  override readonly name = 'SessionStoredError';

  constructor(sessionId: string) {
    super(
      'SESSION_STORED',
      `session ${JSON.stringify(sessionId)} is stored already, and continuing a stored session is not supported yet: use a new session id`,
    );
  }
}

/** The store refused; the session is unsaved from `firstLostSeq` on until a retry succeeds (decision 2). */
export class StoreFailedError extends CodedError {
  override readonly name = 'StoreFailedError';

  readonly firstLostSeq: number;

  constructor(sessionId: string, firstLostSeq: number, cause: unknown) {
    super(
      'STORE_FAILED',
      `session ${JSON.stringify(sessionId)} cannot be written from event ${firstLostSeq} on: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
    this.firstLostSeq = firstLostSeq;
  }
}

export function invalidEvent(problem: string): CodedError {
  return new CodedError('INVALID_EVENT', `invalid event: ${problem}`);
}
