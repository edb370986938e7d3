import type { LlmFailure, StreamChunk, TokenUsage } from './chunks.js';
import type { AssistantMessage, ToolResultMessage, UserMessage } from './content.js';
import type { JsonObject, JsonValue } from './json.js';

/** How a surface event changes the model-visible history (core §2.2). Seqs are inclusive. */
export type SurfaceOp = 'append' | { readonly op: 'replace'; readonly start: number; readonly end: number };

/**
 * Why a turn was cancelled (core §3.7): `parent` by the agent that delegated it, `disposed` because its session closes.
 */
export type CancelCause =
  | { readonly kind: 'user' }
  | { readonly kind: 'parent' }
  | { readonly kind: 'disposed' }
  | { readonly kind: 'hook'; readonly reason: string };

/** How a turn ended (core §2.9). `interrupted` is written by crash repair only. */
export type TurnEndReason =
  | { readonly kind: 'completed' }
  | { readonly kind: 'max-tokens' }
  | { readonly kind: 'aborted'; readonly reason: CancelCause | { readonly kind: 'legacy' } }
  | { readonly kind: 'blocked' }
  | { readonly kind: 'error'; readonly error: LlmFailure }
  | { readonly kind: 'interrupted' };

/** What the model is asked with, besides the history (core §2.10). */
export interface RequestHeader {
  readonly config: CallConfig;
  /** Marks values of `config` that the adapter supplied rather than the caller. */
  readonly adapterDefaults?: { readonly reasoningEffort?: true; readonly maxTokens?: true };
  readonly system?: string;
  readonly tools?: readonly ToolDefinition[];
}
/** The route and the sampling values of a call. `maxTokens` bounds one answer; absent members are not sent. */
export interface CallConfig {
  readonly provider: string;
  readonly model: string;
  readonly reasoningEffort?: string;
  readonly temperature?: number;
  readonly maxTokens?: number;
  readonly stop?: readonly string[];
}
/** A tool as the model is told of it. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments object. */
  readonly parameters: JsonObject;
}

/** The inbox's lists (core §3.2): prompts, of which each turn takes one, and what joins the next step of any turn. */
export type InboxTarget = 'next-turn' | 'next-step';

/** Data of every event type that this version writes (core §2.3). */
export interface SessionEventMap {
  'turn/start': { readonly turn: number };
  'turn/end': { readonly turn: number; readonly reason: TurnEndReason };
  'step/start': { readonly turn: number; readonly step: number };
  'step/end': { readonly turn: number; readonly step: number };
  'user/message': UserMessage;
  'assistant/chunk': { readonly turn: number; readonly step: number; readonly chunk: StreamChunk };
  'assistant/message': {
    readonly turn: number;
    readonly step: number;
    readonly message: AssistantMessage;
    readonly usage?: TokenUsage;
    /** Set when an abort cut the answer: what could be read of it is kept (core §2.7). */
    readonly interrupted?: true;
  };
  'tool/call': {
    readonly turn: number;
    readonly step: number;
    readonly callId: string;
    readonly name: string;
    /** The raw text that the model streamed; may be no JSON. */
    readonly arguments: string;
  };
  'tool/result': {
    readonly turn: number;
    readonly step: number;
    readonly message: ToolResultMessage;
    readonly error?: { readonly name: string; readonly code: string };
    /** For presentation only; the model never sees it. */
    readonly meta?: JsonValue;
  };
  'request/header': { readonly header: RequestHeader; readonly reason: 'initial' | 'resume' | 'change' };
  'request/context': { readonly provider: string; readonly model: string; readonly contextWindow?: number };
  /** A splice of one list (core §2.12): an insertion, a claim by a turn, or a removal, whose outcome is `canceled`. */
  'agent/inbox/spliced': {
    readonly target: InboxTarget;
    readonly start: number;
    readonly removedCount?: number;
    readonly inserted: readonly UserMessage[];
    readonly outcome?: 'canceled';
  };
  'session/title': {
    readonly title: string;
    /** The messages that the title was made from. */
    readonly messageSeqs: readonly number[];
    readonly source:
      | { readonly kind: 'fallback' }
      | { readonly kind: 'provider'; readonly provider: string; readonly model?: string }
      | { readonly kind: 'user' };
  };
  /** Ends the prefix that a fork inherited. */
  'session/end-seed': Readonly<Record<string, never>>;
  /** A model call failed and is to be asked again in the same step (core §2.10); logged before the wait. */
  'llm/retry': {
    /** One for each chain of retries: a step, a provider and a policy. */
    readonly retryId: string;
    readonly turn: number;
    readonly step: number;
    readonly provider: string;
    readonly mode: 'normal' | 'always';
    readonly policyKey: string;
    /** From 1. */
    readonly retry: number;
    /** Absent in mode `always` and where a time budget decides (decision 28). */
    readonly maxRetries?: number;
    readonly delayMs: number;
    readonly failure: LlmFailure;
  };
  /** The wait is over and the request goes out again. */
  'llm/retry-started': {
    readonly retryId: string;
    readonly turn: number;
    readonly step: number;
    readonly retry: number;
  };
}
/** Names of the event types that this version writes. */
export type SessionEventType = keyof SessionEventMap;

/** The event types that carry a message into the model-visible history; `surfaceOp` is mandatory on them (core §2.2). */
export type SurfaceEventType = 'user/message' | 'assistant/message' | 'tool/result';

/** One durable event of a session (core §2.1), discriminated by `type`. */
export type SessionEventOf<T extends SessionEventType> = {
  readonly type: T;
  /** Index in the session's log, contiguous from 0. */
  readonly seq: number;
  /** Wall clock at append, epoch milliseconds; informational, may go backwards. */
  readonly time: number;
  readonly data: SessionEventMap[T];
  /** Set on {@link SurfaceEventType}s only, and on each of them. */
  readonly surfaceOp?: SurfaceOp;
  /** The earlier events it was made from; surface types only. */
  readonly sourceEventSeqs?: readonly number[];
  /** A reader that does not know the type may skip the event. */
  readonly ignorable?: true;
};
/** An event whose type this version does not know, as a newer runtime or a plugin may send it. */
export interface UnknownSessionEvent {
  readonly type: string;
  readonly seq: number;
  readonly time: number;
  readonly data: JsonValue;
  readonly surfaceOp?: SurfaceOp;
  readonly sourceEventSeqs?: readonly number[];
  readonly ignorable?: true;
}
/** Any event that this version writes, discriminated by `type`. The wire may carry others: see {@link isEvent}. */
export type SessionEvent = { [T in SessionEventType]: SessionEventOf<T> }[SessionEventType];

/** Narrows an event from the wire by its type. */
export function isEvent<T extends SessionEventType>(
  event: { readonly type: string },
  type: T,
): event is SessionEventOf<T> {
  return event.type === type;
}
