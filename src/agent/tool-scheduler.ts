import { randomUUID } from 'node:crypto';
import { inject, injectable } from 'inversify';
import type { ToolCallBlock } from '../protocol/index.js';
import { Session } from '../session/index.js';
import { type ToolCallRequest, ToolExecutor, type ToolOutcome } from '../tool/index.js';
import type { Activity } from './activity.js';
import { AgentLoopConfig } from './agent-loop-config.js';
import { checkpoint } from './checkpoint.js';
import { failureOf } from './failure.js';
import type { ToolCallDecision } from './hooks.js';
import { SessionHooks } from './session-hooks.js';
import type { StepPosition } from './step-position.js';

/** What became of the calls of one step so far. */
interface Progress {
  /** Bodies that run. */
  readonly running: Set<Promise<unknown>>;
  concluded: boolean;
  /** The first thing that broke beside the bodies: nothing is started after it. */
  failure: { readonly thrown: unknown } | undefined;
}

/**
 * Runs the tool calls of one step (core §3.5): started in the model's order, those that are safe to overlap in a
 * rolling pool, each other alone; judged one at a time, and their results logged in the model's order.
 */
@injectable()
export class ToolScheduler {
  constructor(
    @inject(Session) private readonly session: Session,
    @inject(ToolExecutor) private readonly tools: ToolExecutor,
    @inject(SessionHooks) private readonly hooks: SessionHooks,
    @inject(AgentLoopConfig) private readonly config: AgentLoopConfig,
  ) {}

  /**
   * Every call gets its `tool/call` and its `tool/result`; after an abort the ones not started get it unrun.
   *
   * @returns whether a call concluded the turn
   * @throws what a hook threw, when all that was started has its result; the calls behind it have none
   */
  async run(calls: readonly ToolCallBlock[], at: StepPosition, activity: Activity): Promise<boolean> {
    const progress: Progress = { running: new Set(), concluded: false, failure: undefined };
    let committed = Promise.resolve();
    for (const { id, name, arguments: text } of calls) {
      const request = { callId: id, name, arguments: text };
      const overlaps = await this.#turnOf(request, progress);
      const outcome = await this.#start(request, at, activity, progress);
      if (outcome === undefined) break;
      committed = committed.then(() => this.#commit(request, outcome, at, activity, progress));
      if (!overlaps) await committed;
    }
    await committed;
    if (progress.failure !== undefined) throw progress.failure.thrown;
    return progress.concluded;
  }

  /** Waits until the call may run; whether others may beside it is asked anew each time, as tools come and go. */
  async #turnOf(request: ToolCallRequest, { running }: Progress): Promise<boolean> {
    for (;;) {
      const overlaps = this.tools.isConcurrencySafe(request);
      if (running.size < (overlaps ? this.config.maxParallelToolCalls : 1)) return overlaps;
      await Promise.race(running);
    }
  }

  /** Logs and starts a call; undefined when something broke, and nothing more is to be started. */
  async #start(
    request: ToolCallRequest,
    at: StepPosition,
    activity: Activity,
    progress: Progress,
  ): Promise<{ readonly seq: number; readonly settled: Promise<ToolOutcome> } | undefined> {
    try {
      const decision = await this.hooks.beforeToolCall(request, at, activity);
      if (progress.failure !== undefined) return undefined;
      const { callId, name, arguments: text } = request;
      const { seq } = this.session.append('tool/call', { ...at, callId, name, arguments: text });
      const settled = this.#outcome(request, decision, activity);
      progress.running.add(settled);
      void settled.then(() => progress.running.delete(settled));
      return { seq, settled };
    } catch (thrown) {
      progress.failure ??= { thrown };
      return undefined;
    }
  }

  /** Never rejects. */
  async #outcome(request: ToolCallRequest, decision: ToolCallDecision, activity: Activity): Promise<ToolOutcome> {
    const refusal = activity.aborted ? undefined : refusalOf(decision, request.name);
    if (refusal !== undefined) return errorOutcome(refusal);
    await checkpoint(this.session, activity);
    try {
      return await this.tools.execute(request, activity.signal);
    } catch (thrown) {
      // The executor broke its contract: the turn fails, but no call stays without its result.
      const error = failureOf(thrown);
      activity.abort({ kind: 'error', error });
      return errorOutcome(error.message);
    }
  }

  /** Never rejects: the results of the other calls are to be logged all the same. */
  async #commit(
    { callId, ...call }: ToolCallRequest,
    { seq, settled }: { readonly seq: number; readonly settled: Promise<ToolOutcome> },
    at: StepPosition,
    activity: Activity,
    progress: Progress,
  ): Promise<void> {
    try {
      const outcome = await settled;
      const reviewed = await this.hooks.afterToolCall({ callId, ...call }, outcome, at, activity);
      const { content, isError, error, concludesTurn } = reviewed?.outcome ?? outcome;
      this.session.append(
        'tool/result',
        {
          ...at,
          message: {
            id: randomUUID(),
            role: 'user',
            content: [{ type: 'tool-result', toolCallId: callId, content, isError }],
            source: { kind: 'tool', callId },
          },
          ...(error !== undefined && { error }),
        },
        { surfaceOp: 'append', sourceEventSeqs: [seq] },
      );
      progress.concluded ||= concludesTurn === true && !isError;
      progress.failure ??= reviewed?.failure;
      for (const message of reviewed?.inject ?? []) await activity.agent.inject(message);
    } catch (thrown) {
      progress.failure ??= { thrown };
    }
  }
}

/** Why a call must not run; there is nobody yet who could be asked. */
function refusalOf(decision: ToolCallDecision, tool: string): string | undefined {
  if (decision.kind === 'allow') return undefined;
  if (decision.kind === 'deny') return decision.reason;
  return `tool "${tool}" requires approval, but no approval channel is available`;
}

function errorOutcome(message: string): ToolOutcome {
  return { content: [{ type: 'text', text: `Error: ${message}` }], isError: true };
}
