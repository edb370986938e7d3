import type { ContentBlock, PromptBlock } from './content.js';
import type { SessionEvent } from './events.js';

/** Parameters of `initialize` (core §1.5). */
export interface InitializeParams {
  /** Workspace of the sessions; relative paths resolve against the runtime's own directory. */
  readonly cwd: string;
  readonly provider: string;
  readonly model: string;
  readonly reasoningEffort?: string;
  /** Positive safe integer. */
  readonly maxTokens?: number;
}
/** Name and version of the runtime; having it means that the runtime is usable (core §1.5). */
export interface InitializeResult {
  readonly serverInfo: { readonly name: string; readonly version: string };
}
/** Parameters of `session/prompt`: a first use of `sessionId` (1–1,024 bytes of UTF-8) creates the session. */
export interface SessionPromptParams {
  readonly sessionId: string;
  readonly contentBlocks: readonly PromptBlock[];
}
/** The durable receipt: the prompt is in the log, its turn has not run yet. */
export interface SessionPromptResult {
  readonly messageId: string;
}

/** Requests a client may send, by method. */
export interface HarnessSdkRequestMap {
  initialize: { readonly params: InitializeParams; readonly result: InitializeResult };
  'session/prompt': { readonly params: SessionPromptParams; readonly result: SessionPromptResult };
  shutdown: { readonly params: undefined; readonly result: Record<string, never> };
}
/** Names of the methods a client may call. */
export type HarnessSdkMethod = keyof HarnessSdkRequestMap;

/** Whether an agent has work. There is no `idle` between two queued turns (core §1.8). */
export type SdkRunStatus = 'running' | 'idle';

/** Params of `session.event`: one for every event appended to any live session. */
export interface SessionEventNotification {
  readonly sessionId: string;
  readonly event: SessionEvent;
}
/** Params of `session.status`: strictly alternating per session, `running` first. */
export interface SessionStatusNotification {
  readonly sessionId: string;
  readonly status: SdkRunStatus;
}
/** Params of `subagent.started`: a session with a parent was created; precedes every event of that session. */
export interface SubagentStartedNotification {
  readonly parentSessionId: string;
  readonly childSessionId: string;
}
/** Params of `subagent.finished`: a subagent of this process has settled; `agentId` is the child's session id. */
export interface SubagentFinishedNotification {
  readonly provider: string;
  readonly agentId: string;
  readonly parentSessionId: string;
  readonly childSessionId: string;
  readonly status: 'ok' | 'error';
  readonly stopReason: string;
  /** Absent when the child produced nothing, never `[]`. */
  readonly lastAssistantMessage?: readonly ContentBlock[];
}

/** Notifications the runtime sends, by method (core §1.6). */
export interface HarnessSdkNotificationMap {
  'session.event': SessionEventNotification;
  'session.status': SessionStatusNotification;
  'subagent.started': SubagentStartedNotification;
  'subagent.finished': SubagentFinishedNotification;
}
/** Names of the notifications the runtime sends. */
export type HarnessSdkNotificationMethod = keyof HarnessSdkNotificationMap;
/** A notification as a client sees it, discriminated by `method`. */
export type HarnessNotification = {
  [M in HarnessSdkNotificationMethod]: { readonly method: M; readonly params: HarnessSdkNotificationMap[M] };
}[HarnessSdkNotificationMethod];

/** `serverInfo.name`, fixed by the protocol. */
export const SERVER_NAME = 'deepseek-harness-sdk-runtime';
