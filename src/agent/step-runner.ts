import { randomUUID } from 'node:crypto';
import { inject, injectable } from 'inversify';
import { AdapterRegistry, LlmError, type ModelRequest, type PreparedCall } from '../model/index.js';
import type { ContentBlock, ToolCallBlock, TurnEndReason } from '../protocol/index.js';
import { Session } from '../session/index.js';
import { ToolExecutor } from '../tool/index.js';
import type { Activity } from './activity.js';
import { AgentRoute } from './agent.js';
import { Answer } from './answer.js';
import { checkpoint } from './checkpoint.js';
import { recordRequest } from './request-record.js';
import type { StepPosition } from './step-position.js';
import { ToolScheduler } from './tool-scheduler.js';

/** One step: a request to the model, and the tools that its answer calls (core §3.4). */
@injectable()
export class StepRunner {
  constructor(
    @inject(Session) private readonly session: Session,
    @inject(AgentRoute) private readonly route: AgentRoute,
    @inject(AdapterRegistry) private readonly adapters: AdapterRegistry,
    @inject(ToolExecutor) private readonly tools: ToolExecutor,
    @inject(ToolScheduler) private readonly scheduler: ToolScheduler,
  ) {}

  /**
   * @returns how the turn ends, or undefined when tools ran and the model has to see their results
   * @throws LlmError the model call failed; whatever else is thrown fails the turn, too
   */
  async run(at: StepPosition, system: string | undefined, activity: Activity): Promise<TurnEndReason | undefined> {
    const messages = this.session.messages();
    if (this.route.provider === '' || this.route.model === '') {
      throw new Error(`agent "${this.session.id}" has no provider/model`);
    }
    const call = this.adapters.prepare(this.route);
    const { adapterDefaults, ...asked } = recordRequest(this.session, call, system, this.tools.definitions);
    await checkpoint(this.session, activity);
    if (activity.aborted) return undefined;
    const request: ModelRequest = { ...asked, messages, sessionId: this.session.id, signal: activity.signal };
    const answer = await this.#stream(call, Object.freeze(request), at, activity);
    return this.#conclude(answer, call, at, activity);
  }

  async #stream(call: PreparedCall, request: ModelRequest, at: StepPosition, activity: Activity): Promise<Answer> {
    const { turn, step } = at;
    const { session } = this;
    const answer = new Answer();
    const batches = call.stream(request)[Symbol.asyncIterator]();
    try {
      while (answer.finish === undefined && !activity.aborted) {
        const next = await activity.until(batches.next());
        if (next === undefined || next.done === true) break;
        for (const chunk of next.value) {
          if (activity.aborted) break;
          answer.add(chunk, session.append('assistant/chunk', { turn, step, chunk }).seq);
        }
        if (session.pressure !== undefined) await activity.until(session.pressure);
      }
      return answer;
    } finally {
      // Not awaited: an adapter that ignores its signal must not hold the turn.
      void Promise.resolve()
        .then(() => batches.return?.())
        .catch(() => undefined);
    }
  }

  async #conclude(
    answer: Answer,
    call: PreparedCall,
    at: StepPosition,
    activity: Activity,
  ): Promise<TurnEndReason | undefined> {
    const { finish, content } = answer;
    if (finish === undefined || finish.kind === 'error' || finish.kind === 'aborted') {
      if (!activity.aborted) throw new LlmError(finish?.failure ?? STREAM_CLOSED);
      if (answer.readable.length > 0) this.#appendMessage(answer, answer.readable, call, at, true);
      return undefined;
    }
    this.#appendMessage(answer, content, call, at, false);
    if (finish.kind === 'max-tokens') return { kind: 'max-tokens' };
    const calls = content.filter((block): block is ToolCallBlock => block.type === 'tool-call');
    if (calls.length === 0) return { kind: 'completed' };
    await this.scheduler.run(calls, at, activity);
    return undefined;
  }

  #appendMessage(
    answer: Answer,
    content: readonly ContentBlock[],
    { config: { provider, model } }: PreparedCall,
    at: StepPosition,
    interrupted: boolean,
  ): void {
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

const STREAM_CLOSED = { code: 'STREAM_CLOSED', message: 'the model stream ended without a finish' } as const;
