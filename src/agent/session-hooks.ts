import { inject, injectable } from 'inversify';
import { CurrentScope, type Scope } from '../kernel/index.js';
import type { ModelRequest, PreparedCall } from '../model/index.js';
import type { CallConfig, StreamChunk, TurnEndReason, UserMessage } from '../protocol/index.js';
import type { ToolCallRequest, ToolOutcome } from '../tool/index.js';
import type { Activity } from './activity.js';
import {
  AfterToolCall,
  BeforeStep,
  BeforeToolCall,
  RequestMiddleware,
  type StepDecision,
  type ToolCallDecision,
  TurnStopping,
} from './hooks.js';
import type { StepPosition } from './step-position.js';

/** What the hooks made of a finished call. */
export interface ReviewedCall {
  readonly outcome: ToolOutcome;
  readonly inject: readonly UserMessage[];
  /** What a hook threw; the review is then as far as it had come. */
  readonly failure?: { readonly thrown: unknown };
}

/**
 * The hooks of one session, each point's asked one after the other. When the activity is aborted the rest is not asked,
 * and what is asked is not waited for: the caller looks at the activity before it acts on an answer.
 */
@injectable()
export class SessionHooks {
  readonly #beforeStep: readonly BeforeStep[];
  readonly #beforeToolCall: readonly BeforeToolCall[];
  readonly #afterToolCall: readonly AfterToolCall[];
  readonly #turnStopping: readonly TurnStopping[];
  readonly #middleware: readonly RequestMiddleware[];

  constructor(@inject(CurrentScope) scope: Scope) {
    this.#beforeStep = scope.all(BeforeStep);
    this.#beforeToolCall = scope.all(BeforeToolCall);
    this.#afterToolCall = scope.all(AfterToolCall);
    this.#turnStopping = scope.all(TurnStopping);
    this.#middleware = scope.all(RequestMiddleware);
  }

  /** Whether a middleware may serve requests, so that a route needs no adapter. */
  get mayServe(): boolean {
    return this.#middleware.some((middleware) => middleware.stream !== undefined);
  }

  /** What enters the step (core §3.3). Throws what a hook throws; so do the following. */
  async beforeStep(messages: readonly UserMessage[], at: StepPosition, activity: Activity): Promise<StepDecision> {
    let decision: StepDecision = { kind: 'enter', messages };
    for (const hook of this.#beforeStep) {
      const entering: readonly UserMessage[] = decision.messages;
      const answer = await ask(activity, () => hook.beforeStep(entering, activity.context(at)));
      if (answer?.kind === 'reject') return answer;
      decision = answer ?? decision;
    }
    return decision;
  }

  /** The first decision that is no `allow` (core §3.5). */
  async beforeToolCall(call: ToolCallRequest, at: StepPosition, activity: Activity): Promise<ToolCallDecision> {
    for (const hook of this.#beforeToolCall) {
      const decision = await ask(activity, () => hook.beforeToolCall(call, activity.context(at)));
      if (decision !== undefined && decision.kind !== 'allow') return decision;
    }
    return { kind: 'allow' };
  }

  /** Never throws. Undefined when an abort cut the review: nobody may have seen the outcome. */
  async afterToolCall(
    call: ToolCallRequest,
    outcome: ToolOutcome,
    at: StepPosition,
    activity: Activity,
  ): Promise<ReviewedCall | undefined> {
    let reviewed: ReviewedCall = { outcome, inject: [] };
    for (const hook of this.#afterToolCall) {
      const { outcome: sofar, inject } = reviewed;
      try {
        const review = await ask(activity, () => hook.afterToolCall(call, sofar, activity.context(at)));
        if (activity.aborted) return undefined;
        reviewed = { outcome: review?.outcome ?? sofar, inject: [...inject, ...(review?.inject ?? [])] };
      } catch (thrown) {
        return { ...reviewed, failure: { thrown } };
      }
    }
    return reviewed;
  }

  /** A steer by a hook keeps the turn going (core §3.3). */
  async turnStopping(reason: TurnEndReason, at: StepPosition, activity: Activity): Promise<void> {
    for (const hook of this.#turnStopping) await ask(activity, () => hook.turnStopping(reason, activity.context(at)));
  }

  /** The config that the route is resolved with (core §3.4). */
  async configure(config: CallConfig, at: StepPosition, activity: Activity): Promise<CallConfig> {
    let configured = config;
    for (const middleware of this.#middleware) {
      const before = configured;
      configured = (await ask(activity, () => middleware.configure?.(before, activity.context(at)))) ?? before;
    }
    return configured;
  }

  /** The call's stream with every middleware around it, the first outermost. What it throws is a middleware's. */
  stream(
    call: PreparedCall,
    request: ModelRequest,
    at: StepPosition,
    activity: Activity,
  ): AsyncIterable<readonly StreamChunk[]> {
    const open = this.#middleware.reduceRight(
      (next, middleware) => () => middleware.stream?.(request, next, activity.context(at)) ?? next(),
      () => call.stream(request),
    );
    return open();
  }
}

/** One hook's answer; undefined as soon as the activity is aborted, whatever becomes of the hook then. */
async function ask<T>(activity: Activity, hook: () => T | Promise<T>): Promise<T | undefined> {
  if (activity.aborted) return undefined;
  try {
    const answer = await activity.until(Promise.resolve(hook()));
    return activity.aborted ? undefined : answer;
  } catch (thrown) {
    if (activity.aborted) return undefined;
    throw thrown;
  }
}
