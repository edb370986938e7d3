import { CodedError } from '../base/index.js';
import type { LeaseHolder } from './repository.js';

/** The id that was to be new is stored already. */
export class SessionStoredError extends CodedError {
  override readonly name = 'SessionStoredError';

  constructor(sessionId: string) {
    super('SESSION_STORED', `session ${JSON.stringify(sessionId)} is stored already`);
  }
}

/** Another runtime writes the session (decision 39). */
export class SessionLeasedError extends CodedError {
  override readonly name = 'SessionLeasedError';

  constructor(
    sessionId: string,
    readonly holder: LeaseHolder,
  ) {
    const { pid, host, startedAt } = holder;
    const since = new Date(startedAt).toISOString();
    super(
      'SESSION_LEASED',
      `session ${JSON.stringify(sessionId)} is in use by process ${pid} on ${host} since ${since}: end that runtime, or use another session id`,
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

/** Another writer has the session: from `firstLostSeq` on nothing was stored, nor will be (decision 39). */
export class SessionLostError extends CodedError {
  override readonly name = 'SessionLostError';

  readonly firstLostSeq: number;
  /** Who has it, where that is known. */
  readonly holder: LeaseHolder | undefined;

  constructor(sessionId: string, firstLostSeq: number, cause: unknown) {
    super(
      'LEASE_LOST',
      `session ${JSON.stringify(sessionId)} is another runtime's; nothing from event ${firstLostSeq} on is stored here: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
    this.firstLostSeq = firstLostSeq;
    this.holder = cause instanceof SessionLeasedError ? cause.holder : undefined;
  }
}

/** `INVALID_EVENT`: what an append is refused with; `problem` names the offending path (core §2.1). */
export function invalidEvent(problem: string): CodedError {
  return new CodedError('INVALID_EVENT', `invalid event: ${problem}`);
}
