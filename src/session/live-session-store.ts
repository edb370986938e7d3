import { inject, injectable } from 'inversify';
import { CodedError } from '../base/index.js';
import { CurrentScope, type Scope } from '../kernel/index.js';
import { Logger } from '../logging/index.js';
import { sessionIdProblem } from '../protocol/index.js';
import { ClosingTurns } from './closing-turns.js';
import { LiveSession } from './live-session.js';
import { LogWriter, type WriteScheduler } from './log-writer.js';
import { Notifications } from './notifications.js';
import { type OpenLog, openLog } from './open-log.js';
import { SessionRepository } from './repository.js';
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
  readonly #closings = new ClosingTurns();
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
      closing: (close) => this.#closings.run(close),
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

  async #open(init: SessionInit): Promise<Session> {
    const session = this.#sessionOf(await openLog(this.repository, init, this.#logger));
    let announce: () => void;
    try {
      announce = await session.repair();
    } catch (thrown) {
      await session.abandon().catch((error: unknown) => this.#logger.error('a log was not closed', { error }));
      throw thrown;
    }
    this.#live.set(session.id, session);
    announce();
    return session;
  }

  #sessionOf(open: OpenLog): LiveSession {
    const { id } = open.header;
    const writer = new LogWriter(id, open.log, open.fold.nextSeq, this.#scheduler, this.#logger);
    return new LiveSession(open, writer, this.notifications, this.#logger, () => this.#live.delete(id));
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
