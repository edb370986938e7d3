import { closeSync, ftruncateSync } from 'node:fs';
import type { Logger } from '../logging/index.js';
import type { Durability, EncodedEvent, SessionHeader, SessionLog } from './repository.js';
import { createSessionFile, syncDirectory, syncFile, undone, writeLines } from './session-file.js';
import { requireContiguous } from './stored-log.js';

/** A write reaches the disk within this time, in ms; a fixed window, not extended by later writes. */
const SYNC_DELAY_MS = 200;

/** One `session.jsonl` (core §4.5). Nothing is on disk before the first append; then one open descriptor. */
export class FileSessionLog implements SessionLog {
  #fd: number | undefined;
  #bytes = 0;
  #nextSeq = 0;
  /** A rollback failed: bytes of a refused batch stand behind {@link #bytes}. */
  #torn = false;
  #unsynced = false;
  #unsyncedDirectories: readonly string[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** One sync after the other. It stays rejected: nobody can vouch for what was written before a failed fsync. */
  #synced: Promise<void> = Promise.resolve();
  #closing: Promise<void> | undefined;

  constructor(
    readonly location: string,
    readonly durability: Durability,
    private readonly root: string,
    private readonly header: SessionHeader,
    private readonly logger: Logger,
  ) {}

  append(batch: readonly EncodedEvent[]): void {
    if (this.#closing !== undefined) throw new Error(`${this.location} is closed`);
    requireContiguous(batch, this.#nextSeq);
    if (batch.length === 0) return;
    if (this.#fd === undefined) this.#create(batch);
    else this.#extend(this.#fd, batch);
    this.#nextSeq += batch.length;
    this.#unsynced = true;
    this.#timer ??= setTimeout(() => void this.sync().catch(() => undefined), SYNC_DELAY_MS).unref();
  }

  assertHeld(): void {}

  sync(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#synced = this.#synced.then(() => this.#syncNow());
    return this.#synced;
  }

  close(): Promise<void> {
    this.#closing ??= this.sync().finally(() => {
      if (this.#fd !== undefined) closeSync(this.#fd);
    });
    return this.#closing;
  }

  #create(batch: readonly EncodedEvent[]): void {
    const lines = [JSON.stringify(this.header), ...linesOf(batch)];
    const { fd, bytes, directories } = createSessionFile(this.header.id, this.location, this.root, lines);
    this.#fd = fd;
    this.#bytes = bytes;
    this.#unsyncedDirectories = directories;
  }

  #extend(fd: number, batch: readonly EncodedEvent[]): void {
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
      this.logger.error('session log could not be synced', { sessionId: this.header.id, file: this.location, error });
      throw error;
    }
  }
}

function linesOf(batch: readonly EncodedEvent[]): string[] {
  return batch.map(({ json }) => json);
}
