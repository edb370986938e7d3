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

/** The open log of one live session. One writer; batches are contiguous from the stored next seq. */
export interface SessionLog {
  /** Where people find it, as a path; undefined when it is nowhere. */
  readonly location: string | undefined;
  readonly durability: Durability;
  /**
   * Stores the batch whole or not at all. Returning (or fulfilling) means that it survives the end of this process;
   * for files: the bytes were handed to the kernel. Never called again before a returned promise has settled.
   *
   * @throws whatever the store says; the batch is then not stored and may be tried again
   */
  append(batch: readonly EncodedEvent[]): void | Promise<void>;
  /** Settles when everything appended so far survives a power cut. */
  sync(): Promise<void>;
  /** Syncs and releases. Idempotent. */
  close(): Promise<void>;
}

export interface StoredSession {
  readonly header: SessionHeader;
  readonly events: readonly SessionEvent[];
}

/** Where session logs are kept. Free of local-disk assumptions: another store may be remote. */
export interface SessionRepository {
  /**
   * Claims the id for a new session. Nothing is stored before the first append.
   *
   * @throws SessionStoredError the id is stored already
   * @throws CodedError `STORE_FAILED` the store cannot be reached
   */
  create(header: SessionHeader): Promise<SessionLog>;
  /** Header of a stored session, undefined when there is none. Throws as {@link read} does. */
  find(sessionId: string): Promise<SessionHeader | undefined>;
  /**
   * Reads a whole log; an unterminated last line is left out.
   *
   * @throws CodedError `SESSION_NOT_FOUND`, `SESSION_CORRUPT`, `SESSION_FORMAT_UNSUPPORTED`
   */
  read(sessionId: string): Promise<StoredSession>;
}
export const SessionRepository = serviceId<SessionRepository>('SessionRepository');
