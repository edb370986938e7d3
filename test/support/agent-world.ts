import { randomUUID } from 'node:crypto';
import { ContainerModule } from 'inversify';
import { agentModule } from '../../src/agent/agent.module.js';
import { agentLoopModule } from '../../src/agent/agent-loop.module.js';
import {
  type Agent,
  AgentRegistry,
  type AgentRoute,
  type SessionModule,
  SessionModules,
} from '../../src/agent/index.js';
import { type ModuleDefinition, Scope } from '../../src/kernel/index.js';
import { Logger } from '../../src/logging/index.js';
import { ModelAdapter } from '../../src/model/index.js';
import { modelModule } from '../../src/model/model.module.js';
import {
  isEvent,
  type Message,
  type SessionEvent,
  type SessionEventOf,
  type SessionEventType,
  type UserMessage,
} from '../../src/protocol/index.js';
import { NotificationListener, type Session, SessionParticipant, SessionRepository } from '../../src/session/index.js';
import { sessionModule } from '../../src/session/session.module.js';
import { Tool, ToolExecutor } from '../../src/tool/index.js';
import { toolModule } from '../../src/tool/tool.module.js';
import { assertBalanced, type Balance, type Heard } from './balanced-events.js';
import { FakeModel } from './fake-model.js';
import { FakeRepository } from './fake-repository.js';
import { FakeTools } from './fake-tools.js';

const ROUTE: AgentRoute = { provider: 'fake', model: 'm-1' };

export interface AgentWorldOptions {
  /** Further modules, loaded after the agent's. */
  readonly modules?: readonly ModuleDefinition[];
  readonly sessionModules?: readonly SessionModule[];
  /** Tools behind the real executor, instead of {@link AgentWorld.tools}. */
  readonly realTools?: readonly Tool[];
  /** Config of the module `agent-loop`. */
  readonly loopConfig?: object;
  /** Config of the module `agent`. */
  readonly agentConfig?: object;
  /** Default: an empty one. */
  readonly repository?: FakeRepository;
}

/** The real agent layer and sessions, over a model, tools and a store that the test plays. */
export class AgentWorld {
  readonly scope = Scope.root('test');
  readonly model = new FakeModel();
  readonly tools = new FakeTools();
  readonly repository: FakeRepository;
  readonly errors: string[] = [];
  /** Hears every event after it was published, as a participant: may append, cancel, prompt. */
  react: (event: SessionEvent, session: Session) => void = () => undefined;
  /** Whether the consumer of the events is behind, as a listener says. */
  behind: (event: SessionEvent) => void | Promise<void> = () => undefined;
  /** Hears the statuses, as a listener. */
  onStatus: (sessionId: string, status: 'running' | 'idle') => void = () => undefined;
  readonly #heard = new Map<string, Heard[]>();

  private constructor(repository = new FakeRepository()) {
    this.repository = repository;
  }

  static async create(options: AgentWorldOptions = {}): Promise<AgentWorld> {
    const world = new AgentWorld(options.repository);
    await world.#load(options);
    return world;
  }

  get registry(): AgentRegistry {
    return this.scope.get(AgentRegistry);
  }

  agent(id = 's', route: AgentRoute = ROUTE): Promise<Agent> {
    return this.registry.open({ id, cwd: '/ws', route });
  }

  /** The agent, after it ran these prompts to idle. */
  async ran(texts: readonly string[], id = 's'): Promise<Agent> {
    const agent = await this.agent(id);
    for (const text of texts) await agent.followup(prompt(text));
    await agent.whenIdle();
    return agent;
  }

  heard(id = 's'): readonly Heard[] {
    return this.#heard.get(id) ?? [];
  }

  events<T extends SessionEventType>(type: T, id = 's'): readonly SessionEventOf<T>[] {
    return this.heard(id).flatMap((item) => ('event' in item && isEvent(item.event, type) ? [item.event] : []));
  }

  /** Types and statuses in order, a run of chunks as one. */
  outline(id = 's'): readonly string[] {
    const all = this.heard(id).map((item) => ('status' in item ? item.status : item.event.type));
    return all.filter((name, index) => name !== 'assistant/chunk' || all[index - 1] !== name);
  }

  /** How the turns ended, in order. */
  ends(id = 's'): readonly SessionEventOf<'turn/end'>['data']['reason'][] {
    return this.events('turn/end', id).map((event) => event.data.reason);
  }

  balance(id = 's'): Balance {
    return assertBalanced(this.heard(id));
  }

  /** Checks the balance of all sessions, closes, and checks again. */
  async close(): Promise<void> {
    for (const id of this.#heard.keys()) await this.registry.get(id)?.whenIdle();
    for (const id of this.#heard.keys()) this.balance(id);
    await this.scope.close();
    for (const id of this.#heard.keys()) this.balance(id);
  }

  async #load({
    modules = [],
    sessionModules = [],
    realTools,
    loopConfig,
    agentConfig,
  }: AgentWorldOptions): Promise<void> {
    this.scope.provide(Logger, this.#logger());
    const fakes = new ContainerModule(({ bind }) => {
      bind(ModelAdapter).toConstantValue(this.model);
      bind(SessionRepository).toConstantValue(this.repository);
      bind(NotificationListener).toConstantValue({
        sessionEvent: (session, event) => {
          this.#hear(session.id, { event });
          return this.behind(event);
        },
        sessionStatus: (id, status) => {
          this.#hear(id, { status });
          this.onStatus(id, status);
        },
      });
    });
    await this.scope.load(fakes);
    const perSession = new ContainerModule(({ bind }) => {
      if (realTools === undefined) bind(ToolExecutor).toConstantValue(this.tools);
      else for (const tool of realTools) bind(Tool).toConstantValue(tool);
      bind(SessionParticipant).toConstantValue({
        name: 'test',
        committed: (event, session) => this.react(event, session),
      });
    });
    const parts: SessionModule[] = [{ name: 'fakes', module: perSession }, ...sessionModules];
    const configs = new Map<ModuleDefinition, object | undefined>([
      [agentLoopModule, loopConfig],
      [agentModule, agentConfig],
    ]);
    const own = realTools === undefined ? [] : [toolModule];
    for (const module of [sessionModule, modelModule, ...own, agentModule, agentLoopModule, ...modules]) {
      const { runtime, session } = await module.configure(configs.get(module));
      if (runtime !== undefined) await this.scope.load(runtime);
      if (session !== undefined) parts.push({ name: module.name, module: session });
    }
    this.scope.provide(SessionModules, parts);
    this.scope.resolveAll();
  }

  #hear(id: string, item: Heard): void {
    const heard = this.#heard.get(id);
    if (heard === undefined) this.#heard.set(id, [item]);
    else heard.push(item);
  }

  #logger(): Logger {
    const logger: Logger = {
      error: (message) => void this.errors.push(message),
      warn: () => undefined,
      info: () => undefined,
      debug: () => undefined,
      child: () => logger,
      isEnabled: () => false,
    };
    return logger;
  }
}

export function prompt(text: string, id: string = randomUUID()): UserMessage {
  return { id, role: 'user', content: [{ type: 'text', text }], source: { kind: 'user' } };
}

/** The texts of a history, `role: text`, tool calls as `call <id>` and results as `result <id>`. */
export function readable(messages: readonly Message[]): readonly string[] {
  return messages.flatMap((message) =>
    message.content.map((block) => {
      if (block.type === 'text' || block.type === 'reasoning') return `${message.role}: ${block.text}`;
      if (block.type === 'tool-call') return `call ${block.id}`;
      return block.type === 'tool-result' ? `result ${block.toolCallId}` : block.type;
    }),
  );
}
