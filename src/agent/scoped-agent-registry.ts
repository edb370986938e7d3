import { inject, injectable, optional } from 'inversify';
import { CodedError } from '../base/index.js';
import { CurrentScope, type Scope } from '../kernel/index.js';
import { Logger } from '../logging/index.js';
import { Session, SessionParticipant, SessionStore } from '../session/index.js';
import { Agent, type AgentInit, type AgentRegistry, AgentRoute } from './agent.js';
import { SessionModules } from './session-modules.js';

/** Gives every agent, with its session and tools, a fenced scope of its own under the runtime's. */
@injectable()
export class ScopedAgentRegistry implements AgentRegistry {
  readonly #live = new Map<string, { readonly agent: Agent; readonly scope: Scope }>();
  readonly #opening = new Map<string, Promise<Agent>>();
  #closing: Promise<void> | undefined;

  constructor(
    @inject(CurrentScope) private readonly scope: Scope,
    @inject(SessionStore) private readonly sessions: SessionStore,
    @inject(Logger) private readonly logger: Logger,
    @inject(SessionModules) @optional() private readonly modules: SessionModules = [],
  ) {
    scope.defer('agents', () => this.closeAll());
  }

  async open(init: AgentInit): Promise<Agent> {
    if (this.#closing !== undefined) throw new CodedError('RUNTIME_CLOSING', 'the runtime is closing');
    const live = this.get(init.id);
    if (live !== undefined) return live;
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
    const session = await this.sessions.open(init);
    const { id } = session;
    const scope = this.scope.child(id);
    scope.defer('session', () => session.close());
    scope.defer('registration', () => void this.#live.delete(id));
    try {
      scope.provide(Session, session);
      scope.provide(AgentRoute, Object.freeze({ ...route }));
      for (const { name, module } of this.modules) scope.loadFenced(module, name);
      // Before the agent, which is to be torn down first.
      const participants = scope.all(SessionParticipant);
      const agent = scope.get(Agent);
      session.join(participants);
      this.#live.set(id, { agent, scope });
      this.logger.info('session opened', { sessionId: id, log: session.location });
      return agent;
    } catch (thrown) {
      await scope.close().catch((error: unknown) => this.logger.error('a session was not undone', { id, error }));
      throw thrown;
    }
  }

  /** Each scope's teardown begins with its agent: cancelled with cause `disposed`, then awaited. */
  async #closeAll(): Promise<void> {
    await Promise.allSettled(this.#opening.values());
    const closed = await Promise.allSettled([...this.#live.values()].map(({ scope }) => scope.close()));
    const failures = closed.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    if (failures.length > 0) throw new AggregateError(failures, 'closing the agents failed');
  }
}
