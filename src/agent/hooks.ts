import { contributionPoint } from '../kernel/index.js';
import type { ModelRequest } from '../model/index.js';
import type { CallConfig, StreamChunk, TurnEndReason, UserMessage } from '../protocol/index.js';
import type { ToolCallRequest, ToolOutcome } from '../tool/index.js';
import type { Agent } from './agent.js';

/** The moment in which a hook is asked. Hooks of one point run one after the other, in binding order. */
export interface HookContext {
  readonly agent: Agent;
  readonly turn: number;
  readonly step: number;
  /**
   * Aborted when the turn is cancelled: stop and return. What a hook says after that is ignored, and what it was asked
   * about does not happen.
   */
  readonly signal: AbortSignal;
}

/** What enters a step; `reject` ends the turn as `blocked`, without a step and with its messages consumed. */
export type StepDecision =
  | { readonly kind: 'enter'; readonly messages: readonly UserMessage[] }
  | { readonly kind: 'reject' };

/**
 * Contribution point, runtime or session scope: may rewrite, add to or reject the messages that are about to enter a
 * step (core §3.3). Each hook sees what the one before it made of them. No messages at a turn's first step: the turn
 * completes without a step. Return `undefined` to pass; a throw ends the turn with an error.
 */
export interface BeforeStep {
  readonly name: string;
  beforeStep(
    messages: readonly UserMessage[],
    context: HookContext,
  ): StepDecision | undefined | Promise<StepDecision | undefined>;
}
/** Collected once, when the session opens: the session's hooks, then the runtime's. So are the points below. */
export const BeforeStep = contributionPoint<BeforeStep>('BeforeStep');

/** `ask` waits for an approval; where nobody can be asked the call is refused. */
export type ToolCallDecision =
  | { readonly kind: 'allow' }
  | { readonly kind: 'deny'; readonly reason: string }
  | { readonly kind: 'ask'; readonly reason?: string };

/**
 * Contribution point: judges a call before its body runs (core §3.5), one call at a time, in the model's order. The
 * first decision that is no `allow` stands; a refused call's result is `Error: <reason>` and its siblings run. Return
 * `undefined` to pass; a throw fails the turn, and no further call starts.
 */
export interface BeforeToolCall {
  readonly name: string;
  beforeToolCall(
    call: ToolCallRequest,
    context: HookContext,
  ): ToolCallDecision | undefined | Promise<ToolCallDecision | undefined>;
}
export const BeforeToolCall = contributionPoint<BeforeToolCall>('BeforeToolCall');

/** What becomes of a finished call. */
export interface ToolCallReview {
  /** In place of the outcome. */
  readonly outcome?: ToolOutcome;
  /** Injected for the next step, after the call's result. */
  readonly inject?: readonly UserMessage[];
}

/**
 * Contribution point: sees every finished call, in the model's order, before its result is logged; may replace the
 * outcome. Return `undefined` to pass; a throw fails the turn, after the results of what has run.
 */
export interface AfterToolCall {
  readonly name: string;
  afterToolCall(
    call: ToolCallRequest,
    outcome: ToolOutcome,
    context: HookContext,
  ): ToolCallReview | undefined | Promise<ToolCallReview | undefined>;
}
export const AfterToolCall = contributionPoint<AfterToolCall>('AfterToolCall');

/**
 * Contribution point: the turn is about to end. `context.agent.steer` keeps it going with another step. A throw ends
 * the turn with an error.
 */
export interface TurnStopping {
  readonly name: string;
  turnStopping(reason: TurnEndReason, context: HookContext): void | Promise<void>;
}
export const TurnStopping = contributionPoint<TurnStopping>('TurnStopping');

/**
 * Contribution point around a model request (core §3.4). A throw of its own fails the turn, without a retry.
 */
export interface RequestMiddleware {
  readonly name: string;
  /** May give another config, before the route is resolved and logged. Return `undefined` to pass. */
  configure?(config: CallConfig, context: HookContext): CallConfig | undefined | Promise<CallConfig | undefined>;
  /**
   * Wraps the stream; `next` asks whoever is further in, at last the adapter. The request is frozen and in the log
   * already. A middleware that never calls `next` serves the request itself; no adapter is needed then.
   */
  stream?(
    request: ModelRequest,
    next: () => AsyncIterable<readonly StreamChunk[]>,
    context: HookContext,
  ): AsyncIterable<readonly StreamChunk[]>;
}
/** The first in binding order is outermost. */
export const RequestMiddleware = contributionPoint<RequestMiddleware>('RequestMiddleware');
