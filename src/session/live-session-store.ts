import { inject, injectable } from 'inversify';
import { CodedError } from '../base/index.js';
import { CurrentScope, type Scope } from '../kernel/index.js';
import { Logger } from '../logging/index.js';
import { sessionIdProblem } from '../protocol/index.js';
import { LiveSession } from './live-session.js';
import { LogWriter, type WriteScheduler } from './log-writer.js';
import { Notifications } from './notifications.js';
import { type SessionHeader, SessionRepository } from './repository.js';
import type { Session, SessionInit, SessionStore } from './session.js';

/**
 * The live sessions, and the writes they owe. What was appended in a tick is written at its end, by the wire's
 * {@link flush} or, where no wire asks, by one of its own.
 */
@injectable()
export class LiveSessionStore implements SessionStore {
  readonly #live = new Map<string, LiveSession>();
  readonly #opening = new Map<string, Promise<Session>>();
  #closing = false;
  #owing = new Set<LogWriter>();
  readonly #unsettled = new Set<Promise<void>>();
  #scheduled = false;
  readonly #scheduler: WriteScheduler;
  readonly #logger: Logger;

  constructor(
    @inject(CurrentScope) scope: Scope,
    @inject(SessionRepository) private readonly repository: SessionRepository,
    @inject(Notifications) private readonly notifications: Notifications,
    @inject(Logger) logger: Logger,
  ) {
    this.#logger = logger.child('session');
    this.#scheduler = {
      pending: (writer) => this.#schedule(writer),
      writing: (done) => this.#watch(done),
    };
    scope.defer('sessions', () => this.#closeAll());
  }

  async open(init: SessionInit): Promise<Session> {
    if (this.#closing) throw new CodedError('RUNTIME_CLOSING', 'the runtime is closing');
    const { id } = init;
    const problem = sessionIdProblem(id);
    if (problem !== undefined) throw new CodedError('INVALID_SESSION_ID', `session id ${problem}`);
    if (this.#live.has(id) || this.#opening.has(id)) {
      throw new CodedError('SESSION_LIVE', `session ${JSON.stringify(id)} is live in this runtime already`);
    }
    const opening = this.#open(init).finally(() => this.#opening.delete(id));
    this.#opening.set(id, opening);
    return opening;
  }

  get(id: string): Session | undefined {
    return this.#live.get(id);
  }

  flush(): void | Promise<void> {
    const owing = this.#owing;
    if (owing.size > 0) {
      this.#owing = new Set();
      for (const writer of owing) {
        const done = writer.flush();
        if (done !== undefined) this.#watch(done);
      }
    }
    if (this.#unsettled.size > 0) return Promise.all(this.#unsettled).then(() => undefined);
  }

  async #open({ id, cwd }: SessionInit): Promise<Session> {
    const header: SessionHeader = Object.freeze({
      type: 'session',
      version: 0,
      id,
      createdAt: Date.now(),
      cwd,
      delegationDepth: 0,
    });
    const log = await this.repository.create(header);
    const writer = new LogWriter(id, log, this.#scheduler, this.#logger);
    const session = new LiveSession(header, writer, this.notifications, this.#logger, () => this.#live.delete(id));
    this.#live.set(id, session);
    return session;
  }

  #schedule(writer: LogWriter): void {
    this.#owing.add(writer);
    if (this.#scheduled) return;
    this.#scheduled = true;
    process.nextTick(() => {
      this.#scheduled = false;
      void this.flush();
    });
  }

  #watch(done: Promise<void>): void {
    if (this.#unsettled.has(done)) return;
    this.#unsettled.add(done);
    void done.then(() => this.#unsettled.delete(done));
  }

  async #closeAll(): Promise<void> {
    this.#closing = true;
    await Promise.allSettled(this.#opening.values());
    const closed = await Promise.allSettled([...this.#live.values()].map((session) => session.close()));
    const failures = closed.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
    if (failures.length > 0) throw new AggregateError(failures, 'closing the sessions failed');
  }
}
