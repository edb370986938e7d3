import { errorCode } from '../base/index.js';
import type { Logger } from '../logging/index.js';
import type { LogReading, SessionHeader, SessionLog, SessionRepository } from './repository.js';
import type { SessionInit } from './session.js';
import { SessionFold } from './session-fold.js';

/** A session's log, open for appending. */
export interface OpenLog {
  readonly header: SessionHeader;
  readonly log: SessionLog;
  /** What stands in the log. */
  readonly fold: SessionFold;
  /** Whether it was stored already. */
  readonly resumed: boolean;
}

/**
 * Begins the log of this id, or continues the one that is stored: most sessions are new, and `create` has to look
 * anyway.
 *
 * @throws what {@link SessionRepository.create} and {@link SessionRepository.resume} throw, `SESSION_NOT_FOUND` excepted
 */
export async function openLog(repository: SessionRepository, init: SessionInit, logger: Logger): Promise<OpenLog> {
  try {
    return await beginLog(repository, init);
  } catch (thrown) {
    if (errorCode(thrown) !== 'SESSION_STORED') throw thrown;
    // Undefined: deleted between the two looks.
    return (await continueLog(repository, init, logger)) ?? beginLog(repository, init);
  }
}

async function beginLog(repository: SessionRepository, { id, cwd }: SessionInit): Promise<OpenLog> {
  const createdAt = Date.now();
  const header = Object.freeze({ type: 'session', version: 0, id, createdAt, cwd, delegationDepth: 0 } as const);
  return { header, log: await repository.create(header), fold: new SessionFold(), resumed: false };
}

/** Undefined when there is no such log. */
async function continueLog(
  repository: SessionRepository,
  { id, cwd }: SessionInit,
  logger: Logger,
): Promise<OpenLog | undefined> {
  const found = await repository.find(id);
  if (found === undefined) return undefined;
  const fold = new SessionFold(found.seedLength);
  try {
    const { log, reading } = await repository.resume(id, (event) => fold.read(event));
    report(reading, cwd, logger);
    return { header: reading.header, log, fold, resumed: true };
  } catch (thrown) {
    if (errorCode(thrown) === 'SESSION_NOT_FOUND') return undefined;
    throw thrown;
  }
}

function report({ header, eventCount, condition }: LogReading, cwd: string, logger: Logger): void {
  const sessionId = header.id;
  if (condition.kind === 'torn') logger.warn('the end of a session log was cut off', { sessionId, ...condition });
  if (header.cwd !== cwd) {
    logger.info('session keeps the directory it was stored with', { sessionId, cwd: header.cwd, asked: cwd });
  }
  logger.debug('session resumed', { sessionId, events: eventCount });
}
