import { Emitter } from '../base/index.js';
import type { Logger } from '../logging/index.js';
import { StoreFailedError } from './errors.js';
import type { EncodedEvent, SessionLog } from './repository.js';

/** Whoever sees to it that what is pending gets written. */
export interface WriteScheduler {
  /** The writer has something to flush: told once until it was written. */
  pending(writer: LogWriter): void;
  /** A write is under way in an asynchronous store; the promise always fulfils. */
  writing(done: Promise<void>): void;
}

/**
 * Brings one session's events to its log in order: all that is pending in one append, never a second append before
 * the first has settled. What the store refused is kept, and goes first when it is tried again.
 */
export class LogWriter {
  #pending: EncodedEvent[] = [];
  #writing: Promise<void> | undefined;
  /** The write of what came while one was under way. */
  #next: Promise<void> | undefined;
  #failure: StoreFailedError | undefined;
  #syncDue = false;
  #storedThrough = 0;
  /** What checkpoints know to be safe from a power cut. */
  #syncedThrough = 0;
  readonly #failed: Emitter<StoreFailedError>;

  constructor(
    private readonly sessionId: string,
    private readonly log: SessionLog,
    private readonly scheduler: WriteScheduler,
    private readonly logger: Logger,
  ) {
    this.#failed = new Emitter((error) => logger.error('a listener for store failures threw', { sessionId, error }));
  }

  get location(): string | undefined {
    return this.log.location;
  }

  /** Set while events are kept that the store refused. */
  get failure(): StoreFailedError | undefined {
    return this.#failure;
  }

  /** Hears when the writer goes from saved to unsaved. */
  onFailed(listener: (failure: StoreFailedError) => void): () => void {
    return this.#failed.on(listener);
  }

  /** @param endsTurn what is stored up to here is to be synced soon, in the background (decision 1) */
  add(event: EncodedEvent, endsTurn: boolean): void {
    if (endsTurn) this.#syncDue = true;
    if (this.#pending.push(event) === 1) this.scheduler.pending(this);
  }

  /** The tick's write. Never throws or rejects. What was refused before waits for {@link save}. */
  flush(): void | Promise<void> {
    if (this.#failure === undefined || this.#writing !== undefined) return this.#write();
  }

  /**
   * Writes everything, earlier refusals included.
   *
   * @throws StoreFailedError
   */
  save(): void | Promise<void> {
    const written = this.#write();
    if (written !== undefined) return written.then(() => this.#assertSaved());
    this.#assertSaved();
  }

  /** {@link save}, then with `durability: 'disk'` the sync. */
  checkpoint(): void | Promise<void> {
    const saved = this.save();
    return this.log.durability === 'disk' ? this.#sync(saved) : saved;
  }

  /** Saves, syncs, releases the log, whatever of it fails. */
  async close(options?: { readonly asIs?: boolean }): Promise<void> {
    const failures: unknown[] = [];
    for (const step of [() => this.save(), () => this.log.close(options)]) {
      try {
        await step();
      } catch (thrown) {
        failures.push(thrown);
      }
    }
    if (failures.length > 1)
      throw new AggregateError(failures, `closing session ${JSON.stringify(this.sessionId)} failed`);
    if (failures.length === 1) throw failures[0];
  }

  #write(): void | Promise<void> {
    if (this.#writing !== undefined) {
      if (this.#pending.length === 0) return this.#writing;
      this.#next ??= this.#writing.then(() => {
        this.#next = undefined;
        return this.#write();
      });
      return this.#next;
    }
    const batch = this.#pending;
    if (batch.length === 0) return;
    this.#pending = [];
    let stored: void | Promise<void>;
    try {
      stored = this.log.append(batch);
    } catch (thrown) {
      this.#refused(batch, thrown);
      return;
    }
    if (stored === undefined) {
      this.#accepted(batch);
      return;
    }
    this.#writing = stored.then(
      () => this.#accepted(batch),
      (reason: unknown) => this.#refused(batch, reason),
    );
    this.scheduler.writing(this.#writing);
    return this.#writing;
  }

  #accepted(batch: readonly EncodedEvent[]): void {
    this.#writing = undefined;
    this.#storedThrough += batch.length;
    if (this.#failure !== undefined) {
      this.#failure = undefined;
      this.logger.info('session is saved again', { sessionId: this.sessionId });
    }
    if (!this.#syncDue) return;
    this.#syncDue = false;
    // The log reports what a sync in the background meets.
    this.log.sync().catch(() => undefined);
  }

  #refused(batch: EncodedEvent[], cause: unknown): void {
    this.#writing = undefined;
    this.#pending = batch.concat(this.#pending);
    const isNews = this.#failure === undefined;
    this.#failure = new StoreFailedError(this.sessionId, batch[0]?.seq ?? 0, cause);
    if (!isNews) return;
    this.logger.error('session is unsaved', { sessionId: this.sessionId, error: this.#failure });
    this.#failed.emit(this.#failure);
  }

  #assertSaved(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #sync(saved: void | Promise<void>): Promise<void> {
    await saved;
    const through = this.#storedThrough;
    try {
      await this.log.sync();
    } catch (thrown) {
      throw new StoreFailedError(this.sessionId, this.#syncedThrough, thrown);
    }
    this.#syncedThrough = through;
  }
}
