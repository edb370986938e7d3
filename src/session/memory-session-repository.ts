import { hostname } from 'node:os';
import { injectable } from 'inversify';
import { SessionLeasedError, SessionStoredError } from './errors.js';
import type {
  EncodedEvent,
  EventVisitor,
  LeaseHolder,
  LogReading,
  ResumedLog,
  SessionHeader,
  SessionLog,
  SessionRepository,
} from './repository.js';
import { parseLine, requireContiguous, sessionNotFound } from './stored-log.js';

interface MemoryRecord {
  readonly header: SessionHeader;
  readonly lines: string[];
  /** Set while its log is open for writing. */
  holder: LeaseHolder | undefined;
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

  async resume(sessionId: string, visit: EventVisitor): Promise<ResumedLog> {
    const record = this.#stored.get(sessionId);
    if (record === undefined) throw sessionNotFound(sessionId);
    if (record.holder !== undefined) throw new SessionLeasedError(sessionId, record.holder);
    const reading = await this.read(sessionId, visit);
    return { reading, log: new MemorySessionLog(reading.header, this.#stored, record) };
  }

  async read(sessionId: string, visit: EventVisitor): Promise<LogReading> {
    const record = this.#stored.get(sessionId);
    if (record === undefined) throw sessionNotFound(sessionId);
    const { header, lines } = record;
    for (const [seq, line] of lines.entries()) for (const event of parseLine(line, seq)) visit(event);
    return { header, eventCount: lines.length, condition: { kind: 'sound' } };
  }
}

class MemorySessionLog implements SessionLog {
  readonly location = undefined;
  readonly durability = 'kernel';
  #record: MemoryRecord | undefined;
  #closed = false;

  /** @param resumed of a session that is stored; absent: it is new */
  constructor(
    private readonly header: SessionHeader,
    private readonly stored: Map<string, MemoryRecord>,
    resumed?: MemoryRecord,
  ) {
    if (resumed === undefined) return;
    resumed.holder = thisProcess();
    this.#record = resumed;
  }

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
    if (!this.#closed && this.#record !== undefined) this.#record.holder = undefined;
    this.#closed = true;
  }

  #begin(): MemoryRecord {
    const { header, stored } = this;
    const other = stored.get(header.id);
    if (other?.holder !== undefined) throw new SessionLeasedError(header.id, other.holder);
    if (other !== undefined) throw new SessionStoredError(header.id);
    const record = { header, lines: [], holder: thisProcess() };
    stored.set(header.id, record);
    return record;
  }
}

function thisProcess(): LeaseHolder {
  const now = Date.now();
  return { pid: process.pid, host: hostname(), startedAt: now, heartbeatAt: now };
}
