import {
  type EncodedEvent,
  type EventVisitor,
  type LogReading,
  type ResumedLog,
  type SessionHeader,
  type SessionLog,
  type SessionRepository,
  SessionStoredError,
} from '../../src/session/index.js';

/** Session logs in memory, which a test can make fail or wait. */
export class FakeRepository implements SessionRepository {
  readonly stored = new Map<string, { readonly header: SessionHeader; readonly lines: EncodedEvent[] }>();
  readonly open = new Set<string>();
  /** Hears every batch before it is stored: a throw refuses it, a promise delays it. */
  beforeAppend: (batch: readonly EncodedEvent[], sessionId: string) => void | Promise<void> = () => undefined;
  beforeCreate: (header: SessionHeader) => void | Promise<void> = () => undefined;

  async create(header: SessionHeader): Promise<SessionLog> {
    const { id } = header;
    await this.beforeCreate(header);
    if (this.stored.has(id)) throw new SessionStoredError(id);
    return this.#open(header);
  }

  async resume(sessionId: string, visit: EventVisitor): Promise<ResumedLog> {
    const reading = await this.read(sessionId, visit);
    return { reading, log: this.#open(reading.header) };
  }

  #open(header: SessionHeader): SessionLog {
    const { id } = header;
    this.open.add(id);
    return {
      location: undefined,
      durability: 'kernel',
      append: (batch) => {
        const ready = this.beforeAppend(batch, id);
        if (ready === undefined) this.#store(header, batch);
        else return ready.then(() => this.#store(header, batch));
      },
      assertHeld: () => undefined,
      sync: async () => undefined,
      close: async () => void this.open.delete(id),
    };
  }

  async find(sessionId: string): Promise<SessionHeader | undefined> {
    return this.stored.get(sessionId)?.header;
  }

  async read(sessionId: string, visit: EventVisitor): Promise<LogReading> {
    const stored = this.stored.get(sessionId);
    if (stored === undefined) throw new Error(`no session ${sessionId}`);
    for (const { json } of stored.lines) visit(JSON.parse(json));
    return { header: stored.header, eventCount: stored.lines.length, condition: { kind: 'sound' } };
  }

  #store(header: SessionHeader, batch: readonly EncodedEvent[]): void {
    const stored = this.stored.get(header.id) ?? { header, lines: [] };
    this.stored.set(header.id, stored);
    stored.lines.push(...batch);
  }
}
