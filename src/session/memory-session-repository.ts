import { injectable } from 'inversify';
import { SessionStoredError } from './errors.js';
import type {
  EncodedEvent,
  EventVisitor,
  LogReading,
  ResumedLog,
  SessionHeader,
  SessionLog,
  SessionRepository,
} from './repository.js';
import { parseEvent, requireContiguous, sessionNotFound } from './stored-log.js';

interface MemoryRecord {
  readonly header: SessionHeader;
  readonly lines: string[];
}

/** Keeps logs for the life of the process: for tests, and for runs that shall leave nothing behind. */
@injectable()
export class MemorySessionRepository implements SessionRepository {
  readonly #stored = new Map<string, MemoryRecord>();

  async create(header: SessionHeader): Promise<SessionLog> {
    if (this.#stored.has(header.id)) throw new SessionStoredError(header.id);
    return new MemorySessionLog(header, this.#stored);
  }

  async find(sessionId: string): Promise<SessionHeader | undefined> {
    return this.#stored.get(sessionId)?.header;
  }

  async resume(sessionId: string): Promise<ResumedLog> {
    throw new SessionStoredError(sessionId);
  }

  async read(sessionId: string, visit: EventVisitor): Promise<LogReading> {
    const record = this.#stored.get(sessionId);
    if (record === undefined) throw sessionNotFound(sessionId);
    const { header, lines } = record;
    for (const [seq, line] of lines.entries()) visit(parseEvent(line, seq, `${JSON.stringify(sessionId)}:${seq}`));
    return { header, eventCount: lines.length, condition: { kind: 'sound' } };
  }
}

class MemorySessionLog implements SessionLog {
  readonly location = undefined;
  readonly durability = 'kernel';
  #record: MemoryRecord | undefined;
  #closed = false;

  constructor(
    private readonly header: SessionHeader,
    private readonly stored: Map<string, MemoryRecord>,
  ) {}

  append(batch: readonly EncodedEvent[]): void {
    if (this.#closed) throw new Error('the log is closed');
    requireContiguous(batch, this.#record?.lines.length ?? 0);
    if (batch.length === 0) return;
    this.#record ??= this.#begin();
    for (const { json } of batch) this.#record.lines.push(json);
  }

  assertHeld(): void {}

  async sync(): Promise<void> {}

  async close(): Promise<void> {
    this.#closed = true;
  }

  #begin(): MemoryRecord {
    const { header, stored } = this;
    if (stored.has(header.id)) throw new SessionStoredError(header.id);
    const record = { header, lines: [] };
    stored.set(header.id, record);
    return record;
  }
}
