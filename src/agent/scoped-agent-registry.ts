import { inject, injectable, optional } from 'inversify';
import { CodedError } from '../base/index.js';
import { CurrentScope, type Scope } from '../kernel/index.js';
import { Logger } from '../logging/index.js';
import { Session, SessionLostError, SessionParticipant, SessionStore, StoreFailedError } from '../session/index.js';
import { Agent, type AgentInit, type AgentRegistry, AgentRoute } from './agent.js';
import { IdleSessions } from './idle-sessions.js';
import { SessionHold } from './session-hold.js';
import { SessionModules } from './session-modules.js';

interface LiveAgent {
  readonly agent: Agent;
  readonly scope: Scope;
}

/**
 * Gives every agent, with its session and tools, a fenced scope of its own under the runtime's, and closes the scopes of
 * those that have been idle for long.
 */
@injectable()
export class ScopedAgentRegistry implements AgentRegistry {
  readonly #live = new Map<string, LiveAgent>();
  readonly #opening = new Map<string, Promise<Agent>>();
  /** Being evicted; never reject. */
  readonly #leaving = new Map<string, Promise<void>>();
  #closing: Promise<void> | undefined;

  constructor(
    @inject(CurrentScope) private readonly scope: Scope,
    @inject(SessionStore) private readonly sessions: SessionStore,
    @inject(IdleSessions) private readonly idle: IdleSessions,
    @inject(Logger) private readonly logger: Logger,
    @inject(SessionModules) @optional() private readonly modules: SessionModules = [],
  ) {
    idle.onDue((id) => this.#evict(id));
    scope.defer('agents', () => this.closeAll());
  }

  async open(init: AgentInit): Promise<Agent> {
    if (this.#closing !== undefined) throw new CodedError('RUNTIME_CLOSING', 'the runtime is closing');
    const live = this.get(init.id);
    // One whose session another runtime has is of no use: it is that session that is asked for.
    if (live !== undefined && !(isLost(live) && this.#evict(init.id))) {
      if (live.status === 'idle') this.idle.add(live.id);
      return live;
    }
    let opening = this.#opening.get(init.id);
    if (opening === undefined) {
      opening = this.#create(init).finally(() => this.#opening.delete(init.id));
      this.#opening.set(init.id, opening);
    }
    return opening;
  }

  get(id: string): Agent | undefined {
    return this.#live.get(id)?.agent;
  }

  list(): readonly Agent[] {
    return [...this.#live.values()].map(({ agent }) => agent);
  }

  closeAll(): Promise<void> {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  async #create({ route, ...init }: AgentInit): Promise<Agent> {
    await this.#leaving.get(init.id);
    const session = await this.sessions.open(init);
    const { id } = session;
    const scope = this.scope.child(id);
    scope.defer('session', () => session.close());
    scope.defer('registration', () => this.#forget(id));
    try {
      scope.provide(Session, session);
      scope.provide(AgentRoute, Object.freeze({ ...route }));
      for (const { name, module } of this.modules) scope.loadFenced(module, name);
      // Before the agent, which is to be torn down first.
      const participants = scope.all(SessionParticipant);
      const agent = scope.get(Agent);
      session.join(participants);
      this.#live.set(id, { agent, scope });
      this.idle.add(id);
      this.logger.info('session opened', { sessionId: id, log: session.location });
      return agent;
    } catch (thrown) {
      await scope.close().catch((error: unknown) => this.logger.error('a session was not undone', { id, error }));
      throw thrown;
    }
  }

  #forget(id: string): void {
    this.#live.delete(id);
    this.idle.delete(id);
  }

  /** Whether it could: begun when this returns, and to be waited for by whoever opens the session again. */
  #evict(id: string): boolean {
    const live = this.#live.get(id);
    if (live === undefined) return true;
    if (live.agent.isBusy || this.#isHeld(live)) return false;
    this.#forget(id);
    // What was injected for a later turn stays in the log's inbox.
    live.agent.cancel({ kind: 'disposed' }, { keepInbox: true });
    this.logger.info('session evicted', { sessionId: id });
    const leaving = live.scope
      .close()
      .catch((error: unknown) => this.logger.error('an evicted session was not closed', { sessionId: id, error }))
      .finally(() => this.#leaving.delete(id));
    this.#leaving.set(id, leaving);
    return true;
  }

  /** Events that the store refused are in memory only. */
  #isHeld({ agent, scope }: LiveAgent): boolean {
    if (agent.session.storeFailure instanceof StoreFailedError) return true;
    return scope.all(SessionHold).some((hold) => {
      try {
        return hold.holds();
      } catch (error) {
        this.logger.error('a session hold threw', { sessionId: agent.id, hold: hold.name, error });
        return true;
      }
    });
  }

  /** Each scope's teardown begins with its agent: cancelled with cause `disposed`, then awaited. */
  async #closeAll(): Promise<void> {
    await Promise.allSettled(this.#opening.values());
    await Promise.all(this.#leaving.values());
    const closed = await Promise.allSettled([...this.#live.values()].map(({ scope }) => scope.close()));
    const failures = closed.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    if (failures.length > 0) throw new AggregateError(failures, 'closing the agents failed');
  }
}

function isLost({ session }: Agent): boolean {
  return session.storeFailure instanceof SessionLostError;
}
