import { contributionPoint, serviceId } from '../kernel/index.js';
import type {
  InboxTarget,
  Message,
  RequestHeader,
  SessionEvent,
  SessionEventMap,
  SessionEventOf,
  SessionEventType,
  SurfaceOp,
  UserMessage,
} from '../protocol/index.js';
import type { SessionLostError, StoreFailedError } from './errors.js';
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
  /** Whether it was continued from the store; false for a session that began here. */
  readonly resumed: boolean;
  /** What is waiting for the agent by the log's inbox events, inherited ones left out (core §3.2). */
  readonly pendingInbox: Readonly<Record<InboxTarget, readonly UserMessage[]>>;
  /** Whether a `request/header` was logged since the session began or was continued (core §2.10). */
  readonly hasOwnHeader: boolean;
  /** The last logged request header and context, by value. */
  readonly requestHeader: RequestHeader | undefined;
  readonly requestContext: SessionEventMap['request/context'] | undefined;
  /** The last logged title. */
  readonly title: string | undefined;

  /**
   * Validates, commits, publishes (core §2.1). The data is copied once and frozen. The event is on its way to store
   * and wire when this returns: in one batch with the others of the tick, store first.
   *
   * @throws CodedError `INVALID_EVENT` naming the offending path, or the rule of core §2.2, 2.12 or 2.13 that it breaks;
   *   nothing is committed then
   * @throws CodedError `REENTRANT_APPEND` from inside a {@link NotificationListener}
   * @throws CodedError `SESSION_CLOSED`
   */
  append<T extends SessionEventType>(type: T, data: SessionEventMap[T], placement?: Placement): SessionEventOf<T>;

  /**
   * Hands everything that is pending to the store now, earlier failures included.
   *
   * @throws StoreFailedError
   * @throws SessionLostError
   */
  save(): void | Promise<void>;
  /**
   * To be awaited before a model request and before a tool body: looks whether the session still is ours, then
   * {@link save}, and with `durability: disk` the sync.
   *
   * @throws StoreFailedError
   * @throws SessionLostError
   */
  checkpoint(): void | Promise<void>;
  /**
   * Set while events exist that the store refused; they are kept and tried again by the next save. A lost session
   * stays lost: what is appended from then on goes on the wire only.
   */
  readonly storeFailure: StoreFailedError | SessionLostError | undefined;
  /** Hears the moment a write fails, or the session is found lost; returns the unsubscribe function. */
  onStoreFailed(listener: (failure: StoreFailedError | SessionLostError) => void): () => void;

  /** Pending while a consumer of this session's events has fallen behind: await it before producing more. */
  readonly pressure: Promise<void> | undefined;

  /** Lets participants hear every event from now on. */
  join(participants: readonly SessionParticipant[]): void;
  /**
   * Saves, syncs and closes the log; later appends are refused. Idempotent. `asIs`: as in {@link SessionLog.close};
   * it is implied for logs whose turn has not come when logs have been closed for 100 ms. That the session was lost is
   * thrown only if nobody was told before.
   */
  close(options?: { readonly asIs?: boolean }): Promise<void>;
}
/** Session scope, provided before the session's modules are loaded. */
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
/** Collected once, when the session opens: the session's participants, then the runtime's. */
export const SessionParticipant = contributionPoint<SessionParticipant>('SessionParticipant');

/** What a session is opened with. A stored one keeps its own directory. */
export interface SessionInit {
  readonly id: string;
  /** Absolute. */
  readonly cwd: string;
}

/** The live sessions of this runtime: one per id. */
export interface SessionStore {
  /**
   * Continues the stored session of this id, or begins a new one. What a crash left open in a stored log is closed by
   * events that are appended, and stored, before this fulfils (core §3.9).
   *
   * @throws CodedError `INVALID_SESSION_ID` not 1–1,024 bytes of well-formed UTF-8 (decision 13)
   * @throws CodedError `SESSION_LIVE` the id is live in this runtime
   * @throws CodedError `RUNTIME_CLOSING`
   * @throws what {@link SessionRepository.resume} throws, `SESSION_NOT_FOUND` excepted
   * @throws what {@link Session.checkpoint} throws: the closing events could not be stored
   */
  open(init: SessionInit): Promise<Session>;
  get(id: string): Session | undefined;
  /**
   * Writes all that is pending of all sessions: the wire's barrier. Synchronous when the store is. Never throws:
   * a failure marks its session unsaved ({@link Session.storeFailure}), and an unsaved session is left to its next save.
   */
  flush(): void | Promise<void>;
}
/** Runtime scope; it closes the sessions it still holds when the runtime's scope is torn down. */
export const SessionStore = serviceId<SessionStore>('SessionStore');
