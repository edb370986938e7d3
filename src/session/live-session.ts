import { CodedError } from '../base/index.js';
import type { Logger } from '../logging/index.js';
import type {
  Message,
  RequestHeader,
  SessionEvent,
  SessionEventMap,
  SessionEventOf,
  SessionEventType,
} from '../protocol/index.js';
import { closersFor } from './crash-repair.js';
import type { SessionLostError, StoreFailedError } from './errors.js';
import type { LogWriter } from './log-writer.js';
import type { Notifications } from './notifications.js';
import type { OpenLog } from './open-log.js';
import type { SessionHeader } from './repository.js';
import { sealEvent } from './seal-event.js';
import type { Placement, Session, SessionParticipant } from './session.js';
import type { SessionFold } from './session-fold.js';

/** A session in memory: its fold, and the events on their way out. Events that left are not kept. */
export class LiveSession implements Session {
  readonly header: SessionHeader;
  readonly resumed: boolean;
  readonly #fold: SessionFold;
  readonly #inheritedHeader: RequestHeader | undefined;
  #participants: readonly SessionParticipant[] = [];
  /** Committed events that participants have not heard of. */
  readonly #untold: SessionEvent[] = [];
  #telling = false;
  readonly #faulty = new Set<SessionParticipant>();
  #publishing = false;
  #pressure: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  /** @param onClosed runs once, when nothing of the session is left open */
  constructor(
    { header, fold, resumed }: Omit<OpenLog, 'log'>,
    private readonly writer: LogWriter,
    private readonly notifications: Notifications,
    private readonly logger: Logger,
    private readonly onClosed: () => void,
  ) {
    this.header = header;
    this.resumed = resumed;
    this.#fold = fold;
    this.#inheritedHeader = fold.requestHeader;
  }

  get id(): string {
    return this.header.id;
  }
  get location(): string | undefined {
    return this.writer.location;
  }
  get nextSeq(): number {
    return this.#fold.nextSeq;
  }
  get lastTurn(): number {
    return this.#fold.lastTurn;
  }
  get pendingInbox(): Session['pendingInbox'] {
    return this.#fold.pendingInbox;
  }
  /** Each logged header is an object of its own. */
  get hasOwnHeader(): boolean {
    return this.#fold.requestHeader !== this.#inheritedHeader;
  }
  get requestHeader(): RequestHeader | undefined {
    return this.#fold.requestHeader;
  }
  get requestContext(): SessionEventMap['request/context'] | undefined {
    return this.#fold.requestContext;
  }
  get title(): string | undefined {
    return this.#fold.title;
  }
  get storeFailure(): StoreFailedError | SessionLostError | undefined {
    return this.writer.failure;
  }
  get pressure(): Promise<void> | undefined {
    return this.#pressure;
  }

  messages(): readonly Message[] {
    return this.#fold.messages();
  }

  append<T extends SessionEventType>(type: T, data: SessionEventMap[T], placement?: Placement): SessionEventOf<T> {
    if (this.#closing !== undefined) throw new CodedError('SESSION_CLOSED', `session ${this.#name} is closed`);
    if (this.#publishing) {
      throw new CodedError(
        'REENTRANT_APPEND',
        `a listener must not append to session ${this.#name}, which it hears of`,
      );
    }
    const event = sealEvent({ ...placement, type, seq: this.#fold.nextSeq, time: Date.now(), data });
    const json = this.#commit(event);
    this.#publish(event, json);
    this.#tell(event);
    return event as SessionEventOf<T>;
  }

  /**
   * Closes what a crash left open (core §3.9). Idempotent.
   *
   * @returns when the closing events are stored: a function, to be called once, that tells the listeners of them
   * @throws as {@link checkpoint} does; then nobody has heard of anything
   */
  async repair(): Promise<() => void> {
    const closers = closersFor(this.#fold).map((event) => ({ event, json: this.#commit(event) }));
    if (closers.length > 0) await this.checkpoint();
    return () => {
      for (const { event, json } of closers) this.#publish(event, json);
    };
  }

  save(): void | Promise<void> {
    return this.writer.save();
  }

  checkpoint(): void | Promise<void> {
    return this.writer.checkpoint();
  }

  onStoreFailed(listener: (failure: StoreFailedError | SessionLostError) => void): () => void {
    return this.writer.onFailed(listener);
  }

  join(participants: readonly SessionParticipant[]): void {
    this.#participants = [...this.#participants, ...participants];
  }

  close(options?: { readonly asIs?: boolean }): Promise<void> {
    this.#closing ??= this.writer.close(options).finally(this.onClosed);
    return this.#closing;
  }

  /** Gives the log back without writing what is pending. Later appends are refused. Idempotent. */
  abandon(): Promise<void> {
    this.#closing ??= this.writer.abandon();
    return this.#closing;
  }

  get #name(): string {
    return JSON.stringify(this.id);
  }

  /** Judges an event, takes it, and hands it to the writer; gives its text. */
  #commit(event: SessionEvent): string {
    this.#fold.check(event);
    const json = JSON.stringify(event);
    this.#fold.commit(event);
    this.writer.add({ seq: event.seq, json }, event.type === 'turn/end');
    return json;
  }

  #publish(event: SessionEvent, json: string): void {
    this.#publishing = true;
    try {
      const behind = this.notifications.sessionEvent(this, event, json);
      if (behind !== undefined) this.#await(behind);
    } finally {
      this.#publishing = false;
    }
  }

  #await(behind: Promise<void>): void {
    const before = this.#pressure;
    const pressure = before === undefined ? behind : Promise.all([before, behind]).then(() => undefined);
    this.#pressure = pressure;
    void pressure.then(() => {
      if (this.#pressure === pressure) this.#pressure = undefined;
    });
  }

  /** What a participant appends waits its turn: everybody hears the events in order. */
  #tell(event: SessionEvent): void {
    if (this.#participants.length === 0) return;
    this.#untold.push(event);
    if (this.#telling) return;
    this.#telling = true;
    for (let next = this.#untold.shift(); next !== undefined; next = this.#untold.shift()) {
      for (const participant of this.#participants) this.#tellOne(participant, next);
    }
    this.#telling = false;
  }

  /** A participant that throws on every token is heard of once. */
  #tellOne(participant: SessionParticipant, event: SessionEvent): void {
    try {
      participant.committed(event, this);
    } catch (error) {
      if (this.#faulty.has(participant)) return;
      this.#faulty.add(participant);
      this.logger.error('a session participant threw; later failures of it are not shown', {
        sessionId: this.id,
        participant: participant.name,
        event: event.type,
        error,
      });
    }
  }
}
