import { closeSync, ftruncateSync, openSync } from 'node:fs';
import { unlink } from 'node:fs/promises';
import { CodedError, errorCode } from '../../base/index.js';
import type { EventVisitor, LogCondition } from '../repository.js';
import { sessionNotFound } from '../stored-log.js';
import type { OpenedSessionFile } from './file-session-log.js';
import { LogFileWriter } from './log-file-writer.js';
import type { TextReading } from './log-parser.js';
import { type LogExtent, rewriteLog } from './rewrite-log.js';
import { currentFile, readSessionFile } from './session-file-reader.js';
import type { SessionLease } from './session-lease.js';
import { type SessionPlace, type StoredLogFile, storeFailed } from './session-place.js';

/**
 * Reads a stored log and makes it ready for appending: the torn tail is cut off, a compressed log unpacked (temporary
 * file, fsync, rename, unlink; decision 38), what a crash left behind is removed. Whoever calls gives the lease back
 * when it throws.
 *
 * @param id what the header has to name; undefined: whatever it names
 * @throws CodedError `SESSION_NOT_FOUND`, `SESSION_DAMAGED`, `SESSION_CORRUPT`, `SESSION_FORMAT_UNSUPPORTED`,
 *   `LEASE_LOST`, `STORE_FAILED`
 */
export async function resumeSessionFile(
  place: SessionPlace,
  id: string | undefined,
  lease: SessionLease,
  visit: EventVisitor,
): Promise<{ readonly reading: TextReading; readonly opened: OpenedSessionFile }> {
  const file = await currentFile(place);
  if (file === undefined) throw sessionNotFound(lease.sessionId);
  const reading = await readSessionFile(file, { id, visit });
  refuseDamage(reading.condition, lease.sessionId);
  try {
    const fd = await openPlain(place, file, reading, lease);
    const { headerBytes, goodBytes: bytes, eventCount: nextSeq, turnEnds } = reading;
    const closedBytes = turnEnds.at(-1)?.bytes ?? 0;
    return { reading, opened: { fd, lease, nextSeq, headerBytes, bytes, closedBytes } };
  } catch (thrown) {
    throw errorCode(thrown) === 'LEASE_LOST' ? thrown : storeFailed(`${file.path} cannot be continued`, thrown);
  }
}

/** @throws CodedError `SESSION_DAMAGED` */
export function refuseDamage(condition: LogCondition, sessionId: string): void {
  if (condition.kind !== 'damaged') return;
  const { where, problem } = condition;
  const session = JSON.stringify(sessionId);
  const id = shellWord(sessionId);
  const advice = `"dsh sessions repair ${id} --drop-damage" goes on with what is before it, and keeps the original beside it; "dsh sessions fork ${id}" goes on from there in a new session`;
  throw new CodedError('SESSION_DAMAGED', `session ${session} is damaged, ${where}: ${problem}; ${advice}`);
}

/** As one word of a command line. */
function shellWord(text: string): string {
  return /^[\w.:@/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

async function openPlain(
  place: SessionPlace,
  file: StoredLogFile,
  { condition, headerBytes, goodBytes }: TextReading,
  lease: SessionLease,
): Promise<number> {
  if (file.form !== 'none') await unpack(place, file, { headerBytes, bytes: goodBytes, packedBytes: 0 }, lease);
  // Reading took its time: nothing may be written when somebody else has the session by now.
  lease.assertHeld();
  await removeOthers(place);
  const fd = openSync(place.path, 'a');
  try {
    if (condition.kind === 'torn' && file.form === 'none') ftruncateSync(fd, goodBytes);
    return fd;
  } catch (thrown) {
    closeSync(fd);
    throw thrown;
  }
}

async function unpack(place: SessionPlace, file: StoredLogFile, extent: LogExtent, lease: SessionLease): Promise<void> {
  const writer = await LogFileWriter.open(place.fileOf('none'));
  try {
    await rewriteLog(file, extent, writer);
    lease.assertHeld();
    await writer.commit('replacement');
  } finally {
    await writer.discard();
  }
}

/** Whatever is not the plain log: were it left and that one torn later, it would pass for the newer one. */
async function removeOthers(place: SessionPlace): Promise<void> {
  for (const { path, form } of await place.storedFiles()) if (form !== 'none') await unlink(path);
  await place.removeLeftovers();
}
