import { Emitter, errorCode } from '../base/index.js';
import type { Logger } from '../logging/index.js';
import { SessionLostError, StoreFailedError } from './errors.js';
import type { EncodedEvent, SessionLog } from './repository.js';

/** Whoever sees to it that what is pending gets written. */
export interface WriteScheduler {
  /** The writer has something to flush: told once until it was written. */
  pending(writer: LogWriter): void;
  /** A write is under way in an asynchronous store; the promise always fulfils. */
  writing(done: Promise<void>): void;
  /** Runs `close` when it is this log's turn to be closed; aborted: it has to hurry. Settles as `close` does. */
  closing(close: (hurry: AbortSignal) => Promise<void>): Promise<void>;
}

/**
 * Brings one session's events to its log in order: all that is pending in one append, never a second append before
 * the first has settled. What the store refused is kept, and goes first when it is tried again. When another writer has
 * the session, what is pending is dropped, and all that comes later.
 */
export class LogWriter {
  #pending: EncodedEvent[] = [];
  #writing: Promise<void> | undefined;
  /** The write of what came while one was under way. */
  #next: Promise<void> | undefined;
  #failure: StoreFailedError | SessionLostError | undefined;
  #syncDue = false;
  /** Seq after the last event that the store took. */
  #storedThrough: number;
  /** Seq after the last event that checkpoints know to be safe from a power cut. */
  #syncedThrough: number;
  readonly #failed: Emitter<StoreFailedError | SessionLostError>;

  /** @param nextSeq of the first event to come: what the log holds already is safe */
  constructor(
    private readonly sessionId: string,
    private readonly log: SessionLog,
    nextSeq: number,
    private readonly scheduler: WriteScheduler,
    private readonly logger: Logger,
  ) {
    this.#storedThrough = nextSeq;
    this.#syncedThrough = nextSeq;
    this.#failed = new Emitter((error) => logger.error('a listener for store failures threw', { sessionId, error }));
  }

  get location(): string | undefined {
    return this.log.location;
  }

  /** Set while events are kept that the store refused, and for good once the session is lost. */
  get failure(): StoreFailedError | SessionLostError | undefined {
    return this.#failure;
  }

  /** Hears when the writer goes from saved to unsaved, and when the session is lost. */
  onFailed(listener: (failure: StoreFailedError | SessionLostError) => void): () => void {
    return this.#failed.on(listener);
  }

  /** @param endsTurn what is stored up to here is to be synced soon, in the background (decision 1) */
  add(event: EncodedEvent, endsTurn: boolean): void {
    if (this.#isLost) return;
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
   * @throws SessionLostError
   */
  save(): void | Promise<void> {
    const written = this.#write();
    if (written !== undefined) return written.then(() => this.#assertSaved());
    this.#assertSaved();
  }

  /** Looks whether the session still is ours, then {@link save}, then with `durability: 'disk'` the sync. */
  checkpoint(): void | Promise<void> {
    const held = this.#assertHeld();
    const saved = held === undefined ? this.save() : held.then(() => this.save());
    return this.log.durability === 'disk' ? this.#sync(saved) : saved;
  }

  /** Saves, syncs, releases the log, whatever of it fails. That the session is lost is news only once. */
  async close(options?: { readonly asIs?: boolean }): Promise<void> {
    const failures: unknown[] = [];
    let isLossKnown = this.#isLost;
    for (const step of [() => this.save(), () => this.#closeLog(options)]) {
      try {
        await step();
      } catch (thrown) {
        const isLoss = errorCode(thrown) === 'LEASE_LOST';
        if (!isLoss || !isLossKnown) failures.push(thrown);
        isLossKnown ||= isLoss;
      }
    }
    if (failures.length > 1)
      throw new AggregateError(failures, `closing session ${JSON.stringify(this.sessionId)} failed`);
    if (failures.length === 1) throw failures[0];
  }

  /** Releases the log, as it is and without what is pending. */
  async abandon(): Promise<void> {
    await this.#writing;
    this.#pending = [];
    await this.log.close({ asIs: true });
  }

  get #isLost(): boolean {
    return this.#failure instanceof SessionLostError;
  }

  #closeLog(options?: { readonly asIs?: boolean }): Promise<void> {
    if (options?.asIs === true) return this.log.close(options);
    return this.scheduler.closing((hurry) => this.log.close({ asIs: hurry.aborted, hurry }));
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
    if (this.#failure !== undefined && !this.#isLost) {
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
    if (this.#isLost) return;
    this.#pending = batch.concat(this.#pending);
    if (isAnothers(cause)) {
      this.#lose(cause);
      return;
    }
    const isNews = this.#failure === undefined;
    this.#failure = new StoreFailedError(this.sessionId, this.#storedThrough, cause);
    if (!isNews) return;
    this.logger.error('session is unsaved', { sessionId: this.sessionId, error: this.#failure });
    this.#failed.emit(this.#failure);
  }

  #lose(cause: unknown): SessionLostError {
    if (this.#failure instanceof SessionLostError) return this.#failure;
    const lost = new SessionLostError(this.sessionId, this.#storedThrough, cause);
    this.#failure = lost;
    const dropped = this.#pending.length;
    this.#pending = [];
    this.logger.error('session is lost', { sessionId: this.sessionId, dropped, error: lost });
    this.#failed.emit(lost);
    return lost;
  }

  #assertSaved(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  #assertHeld(): void | Promise<void> {
    try {
      return this.log.assertHeld()?.catch((thrown: unknown) => {
        throw this.#failureFrom(thrown, this.#storedThrough);
      });
    } catch (thrown) {
      throw this.#failureFrom(thrown, this.#storedThrough);
    }
  }

  /** Of something other than a write. */
  #failureFrom(thrown: unknown, firstUnsafeSeq: number): StoreFailedError | SessionLostError {
    if (errorCode(thrown) === 'LEASE_LOST') return this.#lose(thrown);
    return new StoreFailedError(this.sessionId, firstUnsafeSeq, thrown);
  }

  async #sync(saved: void | Promise<void>): Promise<void> {
    await saved;
    const through = this.#storedThrough;
    try {
      await this.log.sync();
    } catch (thrown) {
      throw this.#failureFrom(thrown, this.#syncedThrough);
    }
    this.#syncedThrough = through;
  }
}

/** Somebody was faster: took the session over, or began it in the same moment. No retry will get it back. */
function isAnothers(cause: unknown): boolean {
  return ['LEASE_LOST', 'SESSION_LEASED', 'SESSION_STORED'].includes(errorCode(cause) ?? '');
}
