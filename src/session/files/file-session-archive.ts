import { rm, rmdir, unlink } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { CodedError, errorCode, toError } from '../../base/index.js';
import type { Logger } from '../../logging/index.js';
import { SessionLeasedError } from '../errors.js';
import type { EventVisitor, LeaseHolder, LogReading, SessionHeader } from '../repository.js';
import { sessionNotFound } from '../stored-log.js';
import { compactSessionFile } from './compact-session-file.js';
import type { FileSessionLogContext } from './file-session-log.js';
import { type ForkedSession, type ForkOptions, forkSessionFile } from './fork-session-file.js';
import type { LogForm } from './log-compression.js';
import { type RepairOptions, type RepairReport, repairSessionFile } from './repair-session-file.js';
import { refuseDamage } from './resume-session-file.js';
import { currentFile, foldFile, readSessionFile, readSessionFileHeader } from './session-file-reader.js';
import { leaseHolder, SessionLeases } from './session-lease.js';
import { sessionDirectoryName } from './session-path.js';
import { fileFacts, SessionPlace, type StoredLogFile } from './session-place.js';
import { SessionRoot } from './session-root.js';

/** A session of the root, or the log in a file anywhere. */
export type SessionTarget = { readonly id: string } | { readonly file: string };

/** A stored session as a list shows it, without its events being read. */
export interface SessionEntry {
  /** The log. */
  readonly path: string;
  /** Size of the file. */
  readonly bytes: number;
  /** Epoch milliseconds. */
  readonly modifiedAt: number;
  /** Who writes it at the moment. */
  readonly holder: LeaseHolder | undefined;
  /** Undefined when there is a problem that keeps it from being read. */
  readonly header: SessionHeader | undefined;
  /** Why it cannot be used as it is. */
  readonly problem: string | undefined;
}

/** What a log came to when it was read whole, as a session would. */
export interface SessionReport extends LogReading {
  readonly path: string;
  readonly bytes: number;
  readonly holder: LeaseHolder | undefined;
  /** How many turns were begun. */
  readonly turns: number;
  /** The turn that is not closed. */
  readonly openTurn: number | undefined;
  readonly title: string | undefined;
}

/** What compacting a log came to; sizes are those of the file. */
export interface CompactReport {
  readonly path: string;
  readonly bytesBefore: number;
  readonly bytesAfter: number;
}

/** What may go; a session goes when one of them says so. None: nothing goes. */
export interface GcOptions {
  /** Those whose log was not changed for so long. */
  readonly olderThanMs?: number | undefined;
  /** All but the newest so many. */
  readonly keep?: number | undefined;
  /** The oldest, until no more than this is left. */
  readonly maxBytes?: number | undefined;
  /** Only tells what would go. */
  readonly dryRun?: boolean | undefined;
}

/**
 * The stored sessions of a root, for people who look after them. Reading takes no lease and changes nothing, and may
 * go on while the session is written; everything that writes takes the lease.
 *
 * Methods throw CodedErrors: `SESSION_NOT_FOUND`, `SESSION_CORRUPT`, `SESSION_FORMAT_UNSUPPORTED`, `STORE_FAILED`;
 * those that write {@link SessionLeasedError}, too.
 */
export class FileSessionArchive {
  readonly #root: SessionRoot;
  readonly #context: FileSessionLogContext;

  /** @param root of all sessions; need not exist */
  constructor(root: string, logger: Logger) {
    this.#root = new SessionRoot(root);
    const leases = new SessionLeases(logger);
    const { path } = this.#root;
    this.#context = { root: path, durability: 'disk', packChunks: false, compression: 'none', leases, logger };
  }

  /** All sessions, the one that was changed last first. One that cannot be read is there with its problem. */
  async list(): Promise<SessionEntry[]> {
    const entries: SessionEntry[] = [];
    for (const place of await this.#root.all()) {
      const entry = await entryOf(place);
      if (entry !== undefined) entries.push(entry);
    }
    const counts = new Map<string, number>();
    for (const { header } of entries) if (header !== undefined) counts.set(header.id, (counts.get(header.id) ?? 0) + 1);
    return entries
      .map((entry) => ((counts.get(entry.header?.id ?? '') ?? 0) > 1 ? { ...entry, problem: STORED_TWICE } : entry))
      .sort((a, b) => b.modifiedAt - a.modifiedAt);
  }

  /** Reads the good events in order; the visitor is as in `SessionRepository.read`. */
  async read(target: SessionTarget, visit: EventVisitor): Promise<LogReading> {
    const { file, id } = await this.#locate(target);
    return readingOf(await readSessionFile(file, { id, visit }));
  }

  /** Reads the whole log as a session would that is continued. */
  async verify(target: SessionTarget): Promise<SessionReport> {
    const { place, file, id } = await this.#locate(target);
    const { fold, reading } = await foldFile(file, id);
    return {
      ...readingOf(reading),
      path: file.path,
      bytes: (await fileFacts(file.path))?.bytes ?? 0,
      holder: leaseHolder(place.leasePath),
      turns: fold.lastTurn,
      openTurn: fold.openTurn?.turn,
      title: fold.title,
    };
  }

  /**
   * Makes a log one that can be gone on with: a torn end is cut off, an open turn closed (core §3.9).
   *
   * @throws CodedError `SESSION_DAMAGED` without `dropDamage`
   */
  async repair(target: SessionTarget, options: RepairOptions = {}): Promise<RepairReport> {
    const { place, header } = await this.#locate(target);
    return repairSessionFile(place, this.#context.leases.take(place.leasePath, header.id), this.#context, options);
  }

  /**
   * Packs the closed turns of a log, and stores it in another form if one is given; `none` unpacks what is compressed.
   *
   * @throws CodedError `SESSION_DAMAGED`; `INVALID_CONFIG` this Node cannot write the form
   */
  async compact(target: SessionTarget, form?: LogForm): Promise<CompactReport> {
    const { place, header } = await this.#locate(target);
    const lease = this.#context.leases.take(place.leasePath, header.id);
    try {
      const file = (await currentFile(place)) ?? absent(target);
      const { reading } = await foldFile(file);
      refuseDamage(reading.condition, header.id);
      const { headerBytes, goodBytes, turnEnds } = reading;
      const extent = { headerBytes, bytes: goodBytes, packedBytes: turnEnds.at(-1)?.bytes ?? 0 };
      const bytesBefore = (await fileFacts(file.path))?.bytes ?? 0;
      const after = await compactSessionFile(place, file, form ?? file.form, extent, () => lease.assertHeld());
      return { path: after.file.path, bytesBefore, bytesAfter: after.bytes };
    } finally {
      lease.release();
    }
  }

  /**
   * Gives header and good events as plain lines without their newline, whatever form they are stored in: as text, they
   * are a log again.
   *
   * @param write awaited now and then: a slow reader bounds the pace
   */
  async exportEvents(
    target: SessionTarget,
    write: (lines: readonly string[]) => void | Promise<void>,
  ): Promise<LogReading> {
    const { file, id, header } = await this.#locate(target);
    let lines = [JSON.stringify(header)];
    const pause = async (): Promise<void> => {
      const ready = lines;
      lines = [];
      if (ready.length > 0) await write(ready);
    };
    return readingOf(await readSessionFile(file, { id, visit: (event) => lines.push(JSON.stringify(event)), pause }));
  }

  /**
   * Begins a new session of the root with the closed turns of another one.
   *
   * @throws CodedError `INVALID_SESSION_ID`; `TURN_NOT_CLOSED`
   * @throws SessionStoredError the new id is stored
   */
  async fork(target: SessionTarget, options: ForkOptions = {}): Promise<ForkedSession> {
    const { file } = await this.#locate(target);
    return forkSessionFile(this.#root, this.#context.leases, file, options);
  }

  /** Deletes a session with all that is in its directory, a damaged one as well; of a file anywhere only the log. */
  async delete(target: SessionTarget): Promise<void> {
    const place = (await this.#place(target)) ?? absent(target);
    if ((await place.storedFiles()).length === 0) absent(target);
    await this.#delete(place, 'id' in target ? target.id : target.file, 'id' in target);
  }

  /** Deletes what has to go; never a session that is in use, nor one that cannot be read. @returns what went */
  async gc({ olderThanMs, keep, maxBytes, dryRun = false }: GcOptions): Promise<SessionEntry[]> {
    const gone: SessionEntry[] = [];
    const now = Date.now();
    let bytes = 0;
    for (const [index, entry] of (await this.list()).entries()) {
      bytes += entry.bytes;
      const isOld = olderThanMs !== undefined && now - entry.modifiedAt > olderThanMs;
      const isMuch = maxBytes !== undefined && bytes > maxBytes;
      const isOne = isOld || isMuch || (keep !== undefined && index >= keep);
      if (!isOne || entry.holder !== undefined || entry.problem !== undefined) continue;
      if (dryRun || (await this.#deleteIfFree(entry))) gone.push(entry);
    }
    return gone;
  }

  async #deleteIfFree({ path, header }: SessionEntry): Promise<boolean> {
    try {
      await this.#delete(SessionPlace.ofFile(path), header?.id ?? '', true);
      return true;
    } catch (thrown) {
      if (thrown instanceof SessionLeasedError || errorCode(thrown) === 'ENOENT') return false;
      throw thrown;
    }
  }

  async #delete(place: SessionPlace, id: string, withDirectory: boolean): Promise<void> {
    const lease = this.#context.leases.take(place.leasePath, id);
    try {
      for (const { path } of await place.storedFiles()) await unlink(path);
      await place.removeLeftovers();
      if (!withDirectory) return;
      await rm(place.directory, { recursive: true, force: true });
      // The last one of its workspace.
      await rmdir(dirname(place.directory)).catch(() => undefined);
    } finally {
      lease.release();
    }
  }

  /** Its header has been read: what cannot be read at all is nothing to work on. */
  async #locate(target: SessionTarget): Promise<LocatedSession> {
    const id = 'id' in target ? target.id : undefined;
    const place = (await this.#place(target)) ?? absent(target);
    const file = (await currentFile(place)) ?? absent(target);
    return { place, file, id, header: await readSessionFileHeader(file, id) };
  }

  async #place(target: SessionTarget): Promise<SessionPlace | undefined> {
    return 'id' in target ? this.#root.find(target.id) : SessionPlace.ofFile(resolve(target.file));
  }
}

interface LocatedSession {
  readonly place: SessionPlace;
  readonly file: StoredLogFile;
  /** What the header has to name. */
  readonly id: string | undefined;
  readonly header: SessionHeader;
}

const STORED_TWICE = 'the session is stored a second time, in another directory';

function absent(target: SessionTarget): never {
  if ('id' in target) throw sessionNotFound(target.id);
  throw new CodedError('SESSION_NOT_FOUND', `there is no session log ${resolve(target.file)}`);
}

function readingOf({ header, eventCount, condition }: LogReading): LogReading {
  return { header, eventCount, condition };
}

/** Undefined when it is gone by now. */
async function entryOf(place: SessionPlace): Promise<SessionEntry | undefined> {
  const nothing = { path: place.path, bytes: 0, modifiedAt: 0, holder: undefined, header: undefined };
  try {
    const [file] = await place.storedFiles();
    const facts = file && (await fileFacts(file.path));
    if (file === undefined || facts === undefined) return undefined;
    const entry = { ...nothing, ...facts, path: file.path };
    try {
      const header = await readSessionFileHeader(file);
      const isHome = basename(place.directory) === sessionDirectoryName(header.id);
      const problem = isHome
        ? undefined
        : `the header names session ${JSON.stringify(header.id)}, which belongs elsewhere`;
      return { ...entry, header, problem, holder: leaseHolder(place.leasePath) };
    } catch (thrown) {
      return { ...entry, problem: toError(thrown).message };
    }
  } catch (thrown) {
    return { ...nothing, problem: toError(thrown).message };
  }
}
