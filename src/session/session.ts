import { contributionPoint, serviceId } from '../kernel/index.js';
import type {
  Message,
  RequestHeader,
  SessionEvent,
  SessionEventMap,
  SessionEventOf,
  SessionEventType,
  SurfaceOp,
} from '../protocol/index.js';
import type { StoreFailedError } from './errors.js';
import type { SessionHeader } from './repository.js';

/** How an event joins the model-visible history; mandatory on surface types, forbidden elsewhere (core §2.1, 2.2). */
export interface Placement {
  readonly surfaceOp: SurfaceOp;
  readonly sourceEventSeqs?: readonly number[];
}

/** One live session: an append-only event log and the state folded from it. */
export interface Session {
  readonly id: string;
  readonly header: SessionHeader;
  /** Where its log is, for people; undefined when it is nowhere. */
  readonly location: string | undefined;
  readonly nextSeq: number;
  /** Number of the last turn started, 0 before the first. */
  readonly lastTurn: number;
  /** The model-visible history (core §2.2): a fresh array of frozen messages. */
  messages(): readonly Message[];
  /** The last logged request header and context, by value. */
  readonly requestHeader: RequestHeader | undefined;
  readonly requestContext: SessionEventMap['request/context'] | undefined;

  /**
   * Validates, commits, publishes (core §2.1). The data is copied once and frozen. The event is on its way to store
   * and wire when this returns: in one batch with the others of the tick, store first.
   *
   * @throws CodedError `INVALID_EVENT` naming the offending path; nothing is committed then
   * @throws CodedError `REENTRANT_APPEND` from inside a {@link NotificationListener}
   * @throws CodedError `SESSION_CLOSED`
   */
  append<T extends SessionEventType>(type: T, data: SessionEventMap[T], placement?: Placement): SessionEventOf<T>;

  /**
   * Hands everything that is pending to the store now, earlier failures included.
   *
   * @throws StoreFailedError
   */
  save(): void | Promise<void>;
  /**
   * To be awaited before a model request and before a tool body: {@link save}, and with `durability: disk` the sync.
   *
   * @throws StoreFailedError
   */
  checkpoint(): void | Promise<void>;
  /** Set while events exist that the store refused; they are kept and tried again by the next save. */
  readonly storeFailure: StoreFailedError | undefined;
  /** Hears the moment a write fails; returns the unsubscribe function. */
  onStoreFailed(listener: (failure: StoreFailedError) => void): () => void;

  /** Pending while a consumer of this session's events has fallen behind: await it before producing more. */
  readonly pressure: Promise<void> | undefined;

  /** Lets participants hear every event from now on. */
  join(participants: readonly SessionParticipant[]): void;
  /** Saves, syncs and closes the log; later appends are refused. Idempotent. */
  close(): Promise<void>;
}
export const Session = serviceId<Session>('Session');

/**
 * Contribution point, session scope: joins one session's life. Contained: a throw is logged, siblings run.
 */
export interface SessionParticipant {
  readonly name: string;
  /**
   * After each event was committed and published, in order; may append. Whatever it appends is committed before the
   * `append` that it answers returns. Called for every chunk: be quick.
   */
  committed(event: SessionEvent, session: Session): void;
}
export const SessionParticipant = contributionPoint<SessionParticipant>('SessionParticipant');

/** What a new session is made from. */
export interface SessionInit {
  readonly id: string;
  /** Absolute. */
  readonly cwd: string;
}

/** The live sessions of this runtime: one per id. */
export interface SessionStore {
  /**
   * Claims the id and opens its log.
   *
   * @throws CodedError `INVALID_SESSION_ID` not 1–1,024 bytes of well-formed UTF-8 (decision 13)
   * @throws CodedError `SESSION_LIVE` the id is live in this runtime
   * @throws SessionStoredError the id is stored
   * @throws CodedError `RUNTIME_CLOSING`
   */
  create(init: SessionInit): Promise<Session>;
  get(id: string): Session | undefined;
  /**
   * Writes all that is pending of all sessions: the wire's barrier. Synchronous when the store is. Never throws:
   * a failure marks its session unsaved ({@link Session.storeFailure}), and an unsaved session is left to its next save.
   */
  flush(): void | Promise<void>;
}
export const SessionStore = serviceId<SessionStore>('SessionStore');
