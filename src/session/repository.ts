import { serviceId } from '../kernel/index.js';
import type { SessionEvent } from '../protocol/index.js';

/** What a log says of its session before the first event (core §4.2). */
export interface SessionHeader {
  readonly type: 'session';
  readonly version: 0;
  readonly id: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Absolute. */
  readonly cwd?: string;
  /** Id of the session it was delegated by or forked from. */
  readonly parentSession?: string;
  /** How many leading events were inherited. */
  readonly seedLength?: number;
  readonly origin?: 'subagent';
  /** 0 for a top-level session. */
  readonly delegationDepth: number;
  readonly agentPreset?: string;
}

/** An event as it is stored and sent: stringified once. */
export interface EncodedEvent {
  readonly seq: number;
  /** The JSON of the whole event, without a newline. */
  readonly json: string;
}

/** What a checkpoint waits for: the kernel has the bytes, or they survive a power cut (decision 1). */
export type Durability = 'kernel' | 'disk';

/** The open log of one live session, held under its lease. One writer; batches are contiguous from the stored next seq. */
export interface SessionLog {
  /** Where people find it, as a path; undefined when it is nowhere. */
  readonly location: string | undefined;
  readonly durability: Durability;
  /**
   * Stores the batch whole or not at all. Returning (or fulfilling) means that it survives the end of this process;
   * for files: the bytes were handed to the kernel. Never called again before a returned promise has settled.
   *
   * @throws SessionLeasedError of a new session's first batch: another writer began the id meanwhile, and has it
   * @throws SessionStoredError likewise, when that writer is done with it
   * @throws whatever the store says; the batch is then not stored and may be tried again
   */
  append(batch: readonly EncodedEvent[]): void | Promise<void>;
  /**
   * Looks whether the session still is ours; asked before every checkpoint (decision 39).
   *
   * @throws CodedError `LEASE_LOST` another writer has taken over: nothing more may be written
   */
  assertHeld(): void | Promise<void>;
  /** Settles when everything appended so far survives a power cut. */
  sync(): Promise<void>;
  /**
   * Syncs, rewrites closed turns packed where that pays (decision 38), gives the lease back and
   * releases all. Idempotent.
   */
  close(options?: {
    /** Leave the log as it is: the process is in a hurry. Default: false. */
    readonly asIs?: boolean;
    /** When this is aborted, packing is given up; the log is left as it is. */
    readonly hurry?: AbortSignal;
  }): Promise<void>;
}

/** Who writes a session (decision 39). */
export interface LeaseHolder {
  readonly pid: number;
  readonly host: string;
  /** When it took the session, epoch milliseconds. */
  readonly startedAt: number;
  /** Its last sign of life, epoch milliseconds. */
  readonly heartbeatAt: number;
}

/** How far a stored log can be trusted (core §4.7, decision 41). The events before a defect are good in any case. */
export type LogCondition =
  | { readonly kind: 'sound' }
  /** The defect stands after the last `turn/end`: a write was cut off. What follows it is dropped when somebody writes. */
  | { readonly kind: 'torn'; readonly where: string; readonly problem: string; readonly droppedBytes: number }
  /** A later `turn/end` shows that the defect was no torn write: nobody may go on from it without a repair. */
  | { readonly kind: 'damaged'; readonly where: string; readonly problem: string };

/** What reading a log came to. */
export interface LogReading {
  readonly header: SessionHeader;
  /** How many events are good; their seqs are 0 to this, exclusive. */
  readonly eventCount: number;
  readonly condition: LogCondition;
}

/** Hears the good events in order. A throw is a defect of the log at that event; its message says what is wrong. */
export type EventVisitor = (event: SessionEvent) => void;

/** A stored session that is being continued. */
export interface ResumedLog {
  readonly log: SessionLog;
  readonly reading: LogReading;
}

/** Where session logs are kept. Free of local-disk assumptions: another store may be remote. */
export interface SessionRepository {
  /**
   * Claims the id for a new session. Nothing is stored before the first append, which takes the lease.
   *
   * @throws SessionStoredError the id is stored already
   * @throws CodedError `STORE_FAILED` the store cannot be reached
   */
  create(header: SessionHeader): Promise<SessionLog>;
  /**
   * Takes the lease of a stored session, reads it, and opens it for appending after its last good event. A torn tail
   * is cut off, a compressed log unpacked (decision 38). A failure gives the lease back.
   *
   * @throws CodedError `SESSION_NOT_FOUND`, `SESSION_DAMAGED`, `SESSION_CORRUPT`, `SESSION_FORMAT_UNSUPPORTED`,
   *   `STORE_FAILED`
   * @throws SessionLeasedError another runtime writes it
   */
  resume(sessionId: string, visit: EventVisitor): Promise<ResumedLog>;
  /** Header of a stored session, undefined when there is none. Throws as {@link read} does. */
  find(sessionId: string): Promise<SessionHeader | undefined>;
  /**
   * Reads a log without a lease and without changing it, while somebody writes it even.
   *
   * @throws CodedError `SESSION_NOT_FOUND`, `SESSION_CORRUPT` no usable header, `SESSION_FORMAT_UNSUPPORTED`
   */
  read(sessionId: string, visit: EventVisitor): Promise<LogReading>;
}
/** Runtime scope; a persistence module binds it. */
export const SessionRepository = serviceId<SessionRepository>('SessionRepository');
