import { CodedError, toError } from '../../src/base/index.js';
import {
  type EncodedEvent,
  type EventVisitor,
  type LogCondition,
  type LogReading,
  type ResumedLog,
  type SessionHeader,
  type SessionLog,
  type SessionRepository,
  SessionStoredError,
} from '../../src/session/index.js';
import { sealEvent } from '../../src/session/seal-event.js';

/** Session logs in memory, which a test can make fail or wait. */
export class FakeRepository implements SessionRepository {
  readonly stored = new Map<string, { readonly header: SessionHeader; readonly lines: EncodedEvent[] }>();
  readonly open = new Set<string>();
  /** Every log that was closed, in order, and whether as it was. */
  readonly closed: { readonly id: string; readonly asIs: boolean }[] = [];
  /** Hears every batch before it is stored: a throw refuses it, a promise delays it. */
  beforeAppend: (batch: readonly EncodedEvent[], sessionId: string) => void | Promise<void> = () => undefined;
  beforeCreate: (header: SessionHeader) => void | Promise<void> = () => undefined;
  /** Asked before each checkpoint: a throw is what the log throws. */
  assertHeld: (sessionId: string) => void | Promise<void> = () => undefined;
  beforeClose: (sessionId: string) => void | Promise<void> = () => undefined;
  /** What reading finds at the end of a log. */
  condition: LogCondition = { kind: 'sound' };

  async create(header: SessionHeader): Promise<SessionLog> {
    const { id } = header;
    await this.beforeCreate(header);
    if (this.stored.has(id)) throw new SessionStoredError(id);
    return this.#open(header);
  }

  async resume(sessionId: string, visit: EventVisitor): Promise<ResumedLog> {
    const reading = await this.read(sessionId, visit).catch((thrown: unknown) => {
      if (thrown instanceof CodedError && thrown.code === 'SESSION_NOT_FOUND') throw thrown;
      throw new CodedError('SESSION_DAMAGED', toError(thrown).message, { cause: thrown });
    });
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
      assertHeld: () => this.assertHeld(id),
      sync: async () => undefined,
      close: async ({ asIs = false } = {}) => {
        this.closed.push({ id, asIs });
        this.open.delete(id);
        await this.beforeClose(id);
      },
    };
  }

  async find(sessionId: string): Promise<SessionHeader | undefined> {
    return this.stored.get(sessionId)?.header;
  }

  async read(sessionId: string, visit: EventVisitor): Promise<LogReading> {
    const stored = this.stored.get(sessionId);
    if (stored === undefined) throw new CodedError('SESSION_NOT_FOUND', `no session ${sessionId}`);
    for (const { json } of stored.lines) visit(sealEvent(JSON.parse(json)));
    return { header: stored.header, eventCount: stored.lines.length, condition: this.condition };
  }

  #store(header: SessionHeader, batch: readonly EncodedEvent[]): void {
    const stored = this.stored.get(header.id) ?? { header, lines: [] };
    this.stored.set(header.id, stored);
    stored.lines.push(...batch);
  }
}
