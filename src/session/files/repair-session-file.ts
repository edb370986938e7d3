import { link, unlink } from 'node:fs/promises';
import { errorCode, syncDirectory } from '../../base/index.js';
import { closersFor } from '../crash-repair.js';
import type { LogCondition } from '../repository.js';
import { SessionFold } from '../session-fold.js';
import { sessionNotFound } from '../stored-log.js';
import { FileSessionLog, type FileSessionLogContext } from './file-session-log.js';
import { LogFileWriter } from './log-file-writer.js';
import type { TextReading } from './log-parser.js';
import { refuseDamage, resumeSessionFile } from './resume-session-file.js';
import { rewriteLog } from './rewrite-log.js';
import { currentFile, foldFile, readSessionFileHeader } from './session-file-reader.js';
import type { SessionLease } from './session-lease.js';
import type { SessionPlace, StoredLogFile } from './session-place.js';

/** How far a repair goes. */
export interface RepairOptions {
  /** Repairs a damaged log as well: what stands after the defect is lost to the session, and kept in a copy. */
  readonly dropDamage?: boolean | undefined;
}

/** What a repair found and did. */
export interface RepairReport {
  /** What was found. */
  readonly condition: LogCondition;
  /** Where the damaged original is kept; undefined when nothing was damaged. */
  readonly copy: string | undefined;
  /** How many events were appended to close an open turn. */
  readonly closers: number;
}

/**
 * Makes a log one that can be gone on with (core §3.9, §4.7): cuts what is torn, closes the turn that is open. A log
 * that needs nothing is left alone. The lease is given back in any case.
 *
 * @throws CodedError `SESSION_DAMAGED` without `dropDamage`; what reading and resuming throw
 */
export async function repairSessionFile(
  place: SessionPlace,
  lease: SessionLease,
  context: FileSessionLogContext,
  { dropDamage = false }: RepairOptions,
): Promise<RepairReport> {
  try {
    const file = await currentFile(place);
    if (file === undefined) throw sessionNotFound(lease.sessionId);
    const { fold, reading } = await foldFile(file);
    const { condition } = reading;
    if (!dropDamage) refuseDamage(condition, lease.sessionId);
    if (condition.kind === 'sound' && fold.openTurn === undefined) return { condition, copy: undefined, closers: 0 };
    const copy = condition.kind === 'damaged' ? await setAside(place, file, reading, lease) : undefined;
    return { condition, copy, closers: await close(place, lease, context) };
  } finally {
    lease.release();
  }
}

/** Puts the good part in place of the log, which keeps another name. @returns that name */
async function setAside(
  place: SessionPlace,
  file: StoredLogFile,
  { header, headerBytes, goodBytes, eventCount }: TextReading,
  lease: SessionLease,
): Promise<string> {
  const writer = await LogFileWriter.open(place.fileOf('none'));
  try {
    const { seedLength = 0 } = header;
    const kept = seedLength > eventCount ? { ...header, seedLength: eventCount } : header;
    await rewriteLog(file, { headerBytes, bytes: goodBytes, packedBytes: 0 }, writer, { header: JSON.stringify(kept) });
    lease.assertHeld();
    const copy = await linkAside(file.path);
    await writer.commit('replacement');
    if (file.form !== 'none') await unlink(file.path);
    await syncDirectory(place.directory);
    return copy;
  } finally {
    await writer.discard();
  }
}

async function linkAside(path: string): Promise<string> {
  for (let number = 1; ; number += 1) {
    const copy = `${path}.damaged-${number}`;
    try {
      await link(path, copy);
      return copy;
    } catch (thrown) {
      if (errorCode(thrown) !== 'EEXIST') throw thrown;
    }
  }
}

/** @returns how many events it took to close the open turn */
async function close(place: SessionPlace, lease: SessionLease, context: FileSessionLogContext): Promise<number> {
  const file = await currentFile(place);
  const fold = new SessionFold(file && (await readSessionFileHeader(file)).seedLength);
  const { reading, opened } = await resumeSessionFile(place, undefined, lease, (event) => fold.read(event));
  const log = new FileSessionLog(place, reading.header, context, opened);
  try {
    const closers = closersFor(fold);
    log.append(closers.map((event) => ({ seq: event.seq, json: JSON.stringify(event) })));
    return closers.length;
  } finally {
    await log.close({ asIs: true });
  }
}
