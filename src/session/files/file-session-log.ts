import { closeSync, existsSync, fstatSync, ftruncateSync, type Stats, statSync } from 'node:fs';
import { CodedError, errorCode, syncDirectory, syncFile } from '../../base/index.js';
import type { Logger } from '../../logging/index.js';
import { SessionStoredError } from '../errors.js';
import type { Durability, EncodedEvent, SessionHeader, SessionLog } from '../repository.js';
import { requireContiguous } from '../stored-log.js';
import { compactSessionFile } from './compact-session-file.js';
import { LOG_FORMS, type LogForm } from './log-compression.js';
import { createSessionFile, makeSessionDirectory, undone, writeLines } from './session-file.js';
import type { SessionLease, SessionLeases } from './session-lease.js';
import type { SessionPlace } from './session-place.js';

/** A write reaches the disk within this time, in ms; a fixed window, not extended by later writes. */
const SYNC_DELAY_MS = 200;
/** A write looks whether the session is ours when nobody has looked for so long, in ms. */
const LOOK_AGAIN_MS = 1_000;
/** Shorter runs of chunks cannot be packed. */
const PACKABLE_RUN = 3;
/** Events are stringified with their type first. */
const TYPE_AT = '{"type":"'.length;

/** What all logs of one repository have in common. */
export interface FileSessionLogContext {
  /** Of all sessions. */
  readonly root: string;
  readonly durability: Durability;
  /** What becomes of closed turns when a log is closed (decision 38). */
  readonly packChunks: boolean;
  readonly compression: LogForm;
  readonly leases: SessionLeases;
  readonly logger: Logger;
}

/** A stored log that was opened for appending, under its lease. */
export interface OpenedSessionFile {
  readonly fd: number;
  readonly lease: SessionLease;
  readonly nextSeq: number;
  readonly headerBytes: number;
  readonly bytes: number;
  /** The last closed turn ends here. */
  readonly closedBytes: number;
}

/**
 * The `session.jsonl` of a live session (core §4.5): plain lines, one open descriptor. That of a new session begins to
 * exist, as does its lease, with the first append.
 */
export class FileSessionLog implements SessionLog {
  readonly location: string;
  readonly durability: Durability;
  #fd: number | undefined;
  #lease: SessionLease | undefined;
  #headerBytes = 0;
  #bytes = 0;
  #closedBytes = 0;
  #nextSeq = 0;
  /** Chunks in a row at the end, as long as there are too few to be packed. */
  #run = 0;
  /** A rollback failed: bytes of a refused batch stand behind {@link #bytes}. */
  #torn = false;
  /** When the session was last seen to be ours and the file to be what was written, epoch milliseconds. */
  #heldAt = 0;
  #unsynced = false;
  #unsyncedDirectories: readonly string[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** One sync after the other. It stays rejected: nobody can vouch for what was written before a failed fsync. */
  #synced: Promise<void> = Promise.resolve();
  /** Set when the session is somebody else's: nothing may be written any more. */
  #lost: unknown;
  #closing: Promise<void> | undefined;

  /** @param opened of a session that is continued; absent: it is new */
  constructor(
    private readonly place: SessionPlace,
    private readonly header: SessionHeader,
    private readonly context: FileSessionLogContext,
    opened?: OpenedSessionFile,
  ) {
    this.location = place.path;
    this.durability = context.durability;
    if (opened === undefined) return;
    this.#fd = opened.fd;
    this.#lease = opened.lease;
    this.#nextSeq = opened.nextSeq;
    this.#headerBytes = opened.headerBytes;
    this.#bytes = opened.bytes;
    this.#closedBytes = opened.closedBytes;
    // What a crash kept from being packed, or cut off, is there to be packed and synced.
    this.#run = PACKABLE_RUN;
    this.#unsynced = true;
    this.#unsyncedDirectories = [place.directory];
  }

  append(batch: readonly EncodedEvent[]): void {
    if (this.#closing !== undefined) throw new Error(`${this.location} is closed`);
    if (this.#lost !== undefined) throw this.#lost;
    requireContiguous(batch, this.#nextSeq);
    if (batch.length === 0) return;
    if (this.#fd === undefined) this.#create(batch);
    else this.#extend(this.#fd, batch);
    this.#note(batch);
    this.#unsynced = true;
    this.#timer ??= setTimeout(() => void this.sync().catch(() => undefined), SYNC_DELAY_MS).unref();
  }

  assertHeld(): void {
    try {
      this.#lease?.assertHeld();
    } catch (thrown) {
      if (errorCode(thrown) === 'LEASE_LOST') this.#lost = thrown;
      throw thrown;
    }
    this.#assertUntouched();
    this.#heldAt = Date.now();
  }

  sync(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#synced = this.#synced.then(() => this.#syncNow());
    return this.#synced;
  }

  close({ asIs = false, hurry }: { readonly asIs?: boolean; readonly hurry?: AbortSignal } = {}): Promise<void> {
    this.#closing ??= this.#close(asIs, hurry);
    return this.#closing;
  }

  async #close(asIs: boolean, hurry: AbortSignal | undefined): Promise<void> {
    try {
      if (this.#fd !== undefined && this.#torn && this.#lost === undefined) this.#rollBack(this.#fd);
      await this.sync();
      if (!asIs) await this.#compact(hurry);
    } finally {
      if (this.#fd !== undefined) closeSync(this.#fd);
      this.#lease?.release();
    }
  }

  #create(batch: readonly EncodedEvent[]): void {
    const { id } = this.header;
    const { root, leases } = this.context;
    const directories = makeSessionDirectory(this.place.directory, root);
    if (this.#unsyncedDirectories.length === 0) this.#unsyncedDirectories = directories;
    const lease = leases.take(this.place.leasePath, id);
    try {
      // A log may have come, and been closed, before the lease was ours.
      this.#requireNew();
      const header = JSON.stringify(this.header);
      const { fd, bytes } = createSessionFile(id, this.location, [header, ...linesOf(batch)]);
      this.#fd = fd;
      this.#bytes = bytes;
      this.#headerBytes = Buffer.byteLength(header) + 1;
      this.#lease = lease;
    } catch (thrown) {
      lease.release();
      throw thrown;
    }
  }

  #requireNew(): void {
    if (LOG_FORMS.some((form) => existsSync(this.place.fileOf(form).path)))
      throw new SessionStoredError(this.header.id);
  }

  /** @throws CodedError `LOG_CHANGED` the file is not the one that was written: what is appended would be lost */
  #assertUntouched(): void {
    if (this.#fd === undefined) return;
    const found = statSync(this.location, { throwIfNoEntry: false });
    const problem = found === undefined ? 'was removed' : this.#foreign(found, fstatSync(this.#fd));
    if (problem === undefined) return;
    throw new CodedError('LOG_CHANGED', `${this.location} ${problem} while this runtime was writing it`);
  }

  #foreign(found: Stats, own: Stats): string | undefined {
    if (found.ino !== own.ino || found.dev !== own.dev) return 'was replaced by another file';
    if (found.size < this.#bytes) return `was cut to ${found.size} of ${this.#bytes} bytes`;
    // What a failed write left is taken away before the next one.
    return found.size > this.#bytes && !this.#torn ? 'was written by somebody else' : undefined;
  }

  #extend(fd: number, batch: readonly EncodedEvent[]): void {
    // A process that was stopped for a while may have lost the session; one that was idle, the file.
    if (Math.abs(Date.now() - this.#heldAt) >= LOOK_AGAIN_MS) this.assertHeld();
    if (this.#torn) this.#rollBack(fd);
    try {
      this.#bytes += writeLines(fd, linesOf(batch));
    } catch (thrown) {
      this.#torn = true;
      throw undone(thrown, [() => this.#rollBack(fd)]);
    }
  }

  #rollBack(fd: number): void {
    ftruncateSync(fd, this.#bytes);
    this.#torn = false;
  }

  /** Remembers what closing the log will have to know. */
  #note(batch: readonly EncodedEvent[]): void {
    this.#nextSeq += batch.length;
    for (const { json } of batch) {
      if (this.#run < PACKABLE_RUN) this.#run = json.startsWith('assistant/chunk"', TYPE_AT) ? this.#run + 1 : 0;
    }
    const end = batch.findLastIndex(({ json }) => json.startsWith('turn/end"', TYPE_AT));
    if (end < 0) return;
    const after = batch.slice(end + 1).reduce((bytes, { json }) => bytes + Buffer.byteLength(json) + 1, 0);
    this.#closedBytes = this.#bytes - after;
  }

  async #syncNow(): Promise<void> {
    const fd = this.#fd;
    if (fd === undefined || !this.#unsynced) return;
    this.#unsynced = false;
    const directories = this.#unsyncedDirectories;
    this.#unsyncedDirectories = [];
    try {
      await syncFile(fd);
      for (const directory of directories) await syncDirectory(directory);
    } catch (error) {
      const { logger } = this.context;
      logger.error('session log could not be synced', { sessionId: this.header.id, file: this.location, error });
      throw error;
    }
  }

  /** The log is whole as it is: that it could not be made smaller is not worth a failure. */
  async #compact(hurry: AbortSignal | undefined): Promise<void> {
    const { packChunks, compression, logger } = this.context;
    const isPacked = packChunks && this.#run >= PACKABLE_RUN && this.#closedBytes > 0;
    if (this.#fd === undefined || this.#lost !== undefined || (!isPacked && compression === 'none')) return;
    try {
      this.assertHeld();
      const extent = {
        headerBytes: this.#headerBytes,
        bytes: this.#bytes,
        packedBytes: isPacked ? this.#closedBytes : 0,
      };
      await compactSessionFile(
        this.place,
        this.place.fileOf('none'),
        compression,
        extent,
        () => {
          hurry?.throwIfAborted();
          this.assertHeld();
        },
        hurry,
      );
    } catch (error) {
      if (hurry?.aborted) return;
      logger.warn('session log could not be compacted', { sessionId: this.header.id, file: this.location, error });
    }
  }
}

function linesOf(batch: readonly EncodedEvent[]): string[] {
  return batch.map(({ json }) => json);
}
