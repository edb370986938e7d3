import { randomUUID } from 'node:crypto';
import { inject, injectable } from 'inversify';
import { DEFAULT_RETRY_POLICY, LlmError } from '../model/index.js';
import type { ContentBlock, LlmFailure, ToolCallBlock, TurnEndReason } from '../protocol/index.js';
import { Session } from '../session/index.js';
import type { Activity } from './activity.js';
import { type Attempt, ModelCaller } from './model-caller.js';
import { policyKey, StepRetries } from './retry-chain.js';
import type { StepPosition } from './step-position.js';
import { ToolScheduler } from './tool-scheduler.js';
import { wait } from './wait.js';

/** One step: requests to the model until one is answered, and the tools that the answer calls (core §3.4). */
@injectable()
export class StepRunner {
  constructor(
    @inject(Session) private readonly session: Session,
    @inject(ModelCaller) private readonly model: ModelCaller,
    @inject(ToolScheduler) private readonly scheduler: ToolScheduler,
  ) {}

  /**
   * @returns how the turn ends; undefined when tools ran and the model has to see their results, or when the activity
   *   was aborted
   * @throws LlmError the model call failed for good; whatever else is thrown fails the turn, too
   */
  async run(at: StepPosition, system: string | undefined, activity: Activity): Promise<TurnEndReason | undefined> {
    const retries = new StepRetries();
    while (!activity.aborted) {
      const attempt = await this.model.ask(at, system, activity);
      if (attempt === undefined) return undefined;
      const { answer } = attempt;
      if (activity.aborted && !answer.isWhole) {
        // No tool has run yet and none will: what can be read is kept.
        if (answer.readable.length > 0) this.#appendMessage(attempt, answer.readable, at, true);
        return undefined;
      }
      if (activity.aborted || answer.failure === undefined) return this.#conclude(attempt, at, activity);
      await this.#recover(attempt, answer.failure, retries, at, activity);
    }
    return undefined;
  }

  /**
   * Waits until the request may go out again.
   *
   * @throws LlmError it may not: the failure stands
   */
  async #recover(
    { call }: Attempt,
    failure: LlmFailure,
    retries: StepRetries,
    at: StepPosition,
    activity: Activity,
  ): Promise<void> {
    const { provider } = call.config;
    const policy = call.retryPolicy ?? DEFAULT_RETRY_POLICY;
    const chain = retries.chain(provider, policy);
    const next = chain.next(failure);
    if (next === undefined) throw new LlmError(failure);
    const retry = { retryId: chain.id, ...at, retry: next.retry };
    this.session.append('llm/retry', {
      ...retry,
      provider,
      mode: policy.mode,
      policyKey: policyKey(policy),
      ...(next.maxRetries !== undefined && { maxRetries: next.maxRetries }),
      delayMs: next.delayMs,
      failure,
    });
    await wait(next.delayMs, activity);
    if (!activity.aborted) this.session.append('llm/retry-started', retry);
  }

  async #conclude(attempt: Attempt, at: StepPosition, activity: Activity): Promise<TurnEndReason | undefined> {
    const { finish, content } = attempt.answer;
    this.#appendMessage(attempt, content, at, false);
    if (finish?.kind === 'max-tokens') return { kind: 'max-tokens' };
    const calls = content.filter((block): block is ToolCallBlock => block.type === 'tool-call');
    if (calls.length === 0) return { kind: 'completed' };
    return (await this.scheduler.run(calls, at, activity)) ? { kind: 'completed' } : undefined;
  }

  #appendMessage(
    { call, answer }: Attempt,
    content: readonly ContentBlock[],
    at: StepPosition,
    interrupted: boolean,
  ): void {
    const { provider, model } = call.config;
    const { usage, replayState, seqs } = answer;
    this.session.append(
      'assistant/message',
      {
        ...at,
        message: {
          id: randomUUID(),
          role: 'assistant',
          content,
          source: { kind: 'model', provider, model, ...(replayState !== undefined && { replayState }) },
        },
        ...(usage !== undefined && { usage }),
        ...(interrupted && { interrupted }),
      },
      { surfaceOp: 'append', sourceEventSeqs: seqs },
    );
  }
}
