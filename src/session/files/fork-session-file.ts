import { randomUUID } from 'node:crypto';
import { CodedError, syncDirectory } from '../../base/index.js';
import { sessionIdProblem } from '../../protocol/index.js';
import { SessionStoredError } from '../errors.js';
import type { SessionHeader } from '../repository.js';
import { LogFileWriter } from './log-file-writer.js';
import type { TextReading, TurnEnd } from './log-parser.js';
import { rewriteLog } from './rewrite-log.js';
import { makeSessionDirectory } from './session-file.js';
import { foldFile } from './session-file-reader.js';
import type { SessionLeases } from './session-lease.js';
import type { StoredLogFile } from './session-place.js';
import type { SessionRoot } from './session-root.js';

/** Which part of a session another one begins with. */
export interface ForkOptions {
  /** Of the new session; default: a UUID. */
  readonly id?: string | undefined;
  /** The last turn that it inherits; 0: none. Default: the last one that is closed. */
  readonly turn?: number | undefined;
}

/** A session that was begun with turns of another one. */
export interface ForkedSession {
  readonly header: SessionHeader;
  /** Its log. */
  readonly path: string;
  /** The last turn that it inherited; 0: none. */
  readonly turn: number;
}

/**
 * Begins a session with the events of another one up to the end of a turn, and a `session/end-seed` after them. Of a
 * damaged log, or one that a newer version went on with, the good part can be forked. All or nothing; the source may be live meanwhile.
 *
 * @throws CodedError `INVALID_SESSION_ID`; `TURN_NOT_CLOSED` there is no such boundary; what reading throws
 * @throws SessionStoredError the new id is stored
 */
export async function forkSessionFile(
  root: SessionRoot,
  leases: SessionLeases,
  source: StoredLogFile,
  { id = randomUUID(), turn }: ForkOptions,
): Promise<ForkedSession> {
  const problem = sessionIdProblem(id);
  if (problem !== undefined) throw new CodedError('INVALID_SESSION_ID', `session id ${problem}`);
  const { reading } = await foldFile(source, undefined, true);
  const end = boundaryOf(reading, turn);
  const header: SessionHeader = {
    ...reading.header,
    id,
    createdAt: Date.now(),
    parentSession: reading.header.id,
    seedLength: end.eventCount,
  };
  if ((await root.findAll(id)).length > 0) throw new SessionStoredError(id);
  const place = root.placeFor(header);
  const directories = makeSessionDirectory(place.directory, root.path);
  const lease = leases.take(place.leasePath, id);
  try {
    const writer = await LogFileWriter.open(place.fileOf('none'));
    try {
      const extent = { headerBytes: reading.headerBytes, bytes: end.bytes, packedBytes: end.bytes };
      await rewriteLog(source, extent, writer, { header: JSON.stringify(header) });
      const marker = { type: 'session/end-seed', seq: end.eventCount, time: header.createdAt, data: {} };
      await writer.add(Buffer.from(`${JSON.stringify(marker)}\n`));
      await writer.commit({ newSession: id });
    } finally {
      await writer.discard();
    }
    for (const directory of directories) await syncDirectory(directory);
  } finally {
    lease.release();
  }
  return { header, path: place.path, turn: end.turn };
}

function boundaryOf({ header, headerBytes, turnEnds }: TextReading, turn: number | undefined): TurnEnd {
  const last = turnEnds.at(-1)?.turn ?? 0;
  const wanted = turn ?? last;
  if (wanted === 0) return { turn: 0, eventCount: 0, bytes: headerBytes };
  const end = turnEnds.find((one) => one.turn === wanted);
  if (end !== undefined) return end;
  const closed = last === 0 ? 'none is' : `the last one that is, is ${last}`;
  throw new CodedError(
    'TURN_NOT_CLOSED',
    `turn ${wanted} of session ${JSON.stringify(header.id)} is not closed: ${closed}`,
  );
}
