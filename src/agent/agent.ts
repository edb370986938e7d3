import { serviceId } from '../kernel/index.js';
import type { CallConfig, CancelCause, SdkRunStatus, UserMessage } from '../protocol/index.js';
import type { Session, SessionInit } from '../session/index.js';

/** What the agent asks the model with, before the adapter's defaults. */
export type AgentRoute = Pick<CallConfig, 'provider' | 'model' | 'reasoningEffort' | 'maxTokens'>;
/** Session scope: the route of the session's agent. */
export const AgentRoute = serviceId<AgentRoute>('AgentRoute');

/** One agent owns one session; its id is the session's (core §3.1). */
export interface Agent {
  readonly id: string;
  readonly session: Session;
  readonly route: AgentRoute;
  readonly status: SdkRunStatus;
  /** Whether {@link whenIdle} would wait: for turns, for maintenance, or for a message on its way in. */
  readonly isBusy: boolean;
  /**
   * Queues a message for a turn of its own and wakes the agent. The message is in the log, handed to the store, when
   * this fulfils; the turn has begun by then if the agent was idle.
   *
   * @throws StoreFailedError the message could not be stored: it will not run (decision 2)
   * @throws CodedError `AGENT_DISPOSED`
   */
  followup(message: UserMessage): Promise<void>;
  /** Queues a message for the next step and wakes the agent. */
  steer(message: UserMessage): Promise<void>;
  /** Queues a message for the next step without waking. */
  inject(message: UserMessage): Promise<void>;
  /**
   * Aborts what runs, and clears the inbox; with `keepInbox` what is waiting runs next. The first cause wins. Idle: only
   * clears. Cause `disposed` ends the agent: the next one does nothing. Returns at once; await {@link whenIdle}.
   */
  cancel(cause: CancelCause, options?: { readonly keepInbox?: boolean }): void;
  /** Fulfils when nothing runs and nothing is about to; never rejects. */
  whenIdle(): Promise<void>;
  /**
   * Runs a job that needs the session for itself, such as compaction. The status stays `idle`; messages are queued and
   * run when the job has settled. The job is waited for: it has to end when its signal is aborted, by {@link cancel} or
   * by disposal. Settles as the job does.
   *
   * @throws CodedError `AGENT_BUSY` unless idle, `AGENT_DISPOSED`
   */
  runMaintenance<T>(job: (signal: AbortSignal) => Promise<T>): Promise<T>;
}
/** Session scope: the agent of the session, bound by the session part of a module such as `agent-loop`. */
export const Agent = serviceId<Agent>('Agent');

/** What an agent is made from. An agent that is live already keeps its own directory and route. */
export interface AgentInit extends SessionInit {
  readonly route: AgentRoute;
}

/**
 * The live agents of this runtime. One that is idle, and that no `SessionHold` keeps, may be evicted at any time: its
 * session is closed, and continued by the next {@link AgentRegistry.open} (decision 40). So open an agent when it is
 * needed, and keep it no longer than it is busy.
 */
export interface AgentRegistry {
  /**
   * The agent of a session id, created on first use, and anew when another runtime has taken its session; concurrent
   * calls share one creation, and a failed one is forgotten. All or nothing: a failure leaves no scope, no log, no claimed id.
   *
   * @throws what {@link SessionStore.open} throws, and CodedError `RUNTIME_CLOSING`
   */
  open(init: AgentInit): Promise<Agent>;
  get(id: string): Agent | undefined;
  /** In the order in which they opened; those still being made are left out. */
  list(): readonly Agent[];
  /**
   * Refuses new agents, waits for creations, cancels every agent with cause `disposed`, waits until all are idle
   * (their closing events are out then), and closes their scopes. Idempotent.
   */
  closeAll(): Promise<void>;
}
/** Runtime scope; looked up by the host too, which closes all agents before it tears anything down. */
export const AgentRegistry = serviceId<AgentRegistry>('AgentRegistry');
