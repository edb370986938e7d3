import { inject, injectable } from 'inversify';
import { errorCode } from '../base/index.js';
import { AdapterRegistry, failureFacts, type ModelRequest, type PreparedCall } from '../model/index.js';
import type { CallConfig, StreamChunk } from '../protocol/index.js';
import { Session } from '../session/index.js';
import { ToolExecutor } from '../tool/index.js';
import type { Activity } from './activity.js';
import { AgentRoute } from './agent.js';
import { Answer } from './answer.js';
import { checkpoint } from './checkpoint.js';
import { recordRequest } from './request-record.js';
import { SessionHooks } from './session-hooks.js';
import type { StepPosition } from './step-position.js';

/** One request and what came of it. */
export interface Attempt {
  readonly call: PreparedCall;
  readonly answer: Answer;
}

/** Asks the model once: config, route, record, checkpoint, stream (core §3.4). */
@injectable()
export class ModelCaller {
  constructor(
    @inject(Session) private readonly session: Session,
    @inject(AgentRoute) private readonly route: AgentRoute,
    @inject(AdapterRegistry) private readonly adapters: AdapterRegistry,
    @inject(ToolExecutor) private readonly tools: ToolExecutor,
    @inject(SessionHooks) private readonly hooks: SessionHooks,
  ) {}

  /**
   * What the model answered, as far as it came: a failed call is an answer with a failure. Undefined when the activity
   * was aborted before the model was asked.
   *
   * @throws whatever keeps the model from being asked, and what a middleware throws: not to be retried
   */
  async ask(at: StepPosition, system: string | undefined, activity: Activity): Promise<Attempt | undefined> {
    const messages = this.session.messages();
    const config = await this.hooks.configure(this.#route(), at, activity);
    if (activity.aborted) return undefined;
    if (!config.provider || !config.model) throw new Error(`agent "${this.session.id}" has no provider/model`);
    const call = this.#prepare(config);
    const { adapterDefaults, ...asked } = recordRequest(this.session, call, system, this.tools.definitions);
    await checkpoint(this.session, activity);
    if (activity.aborted) return undefined;
    const { id: sessionId, header } = this.session;
    const cwd = header.cwd === undefined ? {} : { cwd: header.cwd };
    const request: ModelRequest = { ...asked, messages, sessionId, ...cwd, signal: activity.signal };
    return { call, answer: await this.#stream(call, Object.freeze(request), at, activity) };
  }

  /** A session that is continued keeps the effort that was chosen for this model, unless another is (core §3.4). */
  #route(): AgentRoute {
    const { route, session } = this;
    const { config, adapterDefaults } = session.requestHeader ?? {};
    const isSame = config?.provider === route.provider && config?.model === route.model;
    if (!isSame || route.reasoningEffort !== undefined || adapterDefaults?.reasoningEffort === true) return route;
    return config?.reasoningEffort === undefined ? route : { ...route, reasoningEffort: config.reasoningEffort };
  }

  #prepare(config: CallConfig): PreparedCall {
    try {
      return this.adapters.prepare(config);
    } catch (thrown) {
      const failure = failureFacts(thrown);
      if (failure === undefined || errorCode(thrown) !== 'NO_ADAPTER' || !this.hooks.mayServe) throw thrown;
      return {
        config,
        async *stream() {
          yield [{ type: 'finish', reason: { kind: 'error', failure } }];
        },
      };
    }
  }

  async #stream(call: PreparedCall, request: ModelRequest, at: StepPosition, activity: Activity): Promise<Answer> {
    const { session } = this;
    const answer = new Answer();
    const batches = this.hooks.stream(call, request, at, activity)[Symbol.asyncIterator]();
    try {
      while (answer.finish === undefined && !activity.aborted) {
        const next = await activity.until(batches.next());
        if (next === undefined || next.done === true) break;
        this.#log(next.value, answer, at, activity);
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

  /** Nothing after the finish: a middleware may not keep to the grammar. */
  #log(batch: readonly StreamChunk[], answer: Answer, { turn, step }: StepPosition, activity: Activity): void {
    for (const chunk of batch) {
      if (activity.aborted || answer.finish !== undefined) return;
      answer.add(chunk, this.session.append('assistant/chunk', { turn, step, chunk }).seq);
    }
  }
}
