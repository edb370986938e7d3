import { inject, injectable, optional } from 'inversify';
import { CurrentScope, type Scope } from '../kernel/index.js';
import type { TurnEndReason, UserMessage } from '../protocol/index.js';
import { Session } from '../session/index.js';
import type { Activity } from './activity.js';
import { AgentRoute } from './agent.js';
import { failureOf } from './failure.js';
import { Inbox } from './inbox.js';
import { PromptSection, SystemPrompt } from './prompt.js';
import { SessionHooks } from './session-hooks.js';
import type { StepPosition } from './step-position.js';
import { StepRunner } from './step-runner.js';

/** One turn: steps until the model is done and nothing is waiting for the next step (core §3.3). */
@injectable()
export class TurnLoop {
  readonly #sections: readonly PromptSection[];

  constructor(
    @inject(CurrentScope) scope: Scope,
    @inject(Session) private readonly session: Session,
    @inject(AgentRoute) private readonly route: AgentRoute,
    @inject(Inbox) private readonly inbox: Inbox,
    @inject(SessionHooks) private readonly hooks: SessionHooks,
    @inject(StepRunner) private readonly steps: StepRunner,
    @inject(SystemPrompt) @optional() private readonly systemPrompt: SystemPrompt | undefined,
  ) {
    this.#sections = scope.all(PromptSection);
  }

  /**
   * Runs the next turn, from `turn/start` to `turn/end`; runs synchronously until it has claimed its prompt.
   *
   * @returns how the turn ended, as logged
   * @throws what {@link Session.append} throws when the turn cannot be opened or closed; whatever fails inside ends
   *   the turn instead
   */
  async run(activity: Activity): Promise<TurnEndReason> {
    const turn = this.session.lastTurn + 1;
    this.session.append('turn/start', { turn });
    let reason: TurnEndReason;
    try {
      reason = await this.#steps(turn, activity);
    } catch (thrown) {
      reason = { kind: 'error', error: failureOf(thrown) };
    }
    reason = activity.ending ?? reason;
    this.session.append('turn/end', { turn, reason });
    return reason;
  }

  /** Returns early when the activity is aborted, whose ending then stands. */
  async #steps(turn: number, activity: Activity): Promise<TurnEndReason> {
    let truncated = false;
    let ended = false;
    const reason = (): TurnEndReason => ({ kind: truncated ? 'max-tokens' : 'completed' });
    for (let step = 1; !activity.aborted; step += 1) {
      const at = { turn, step };
      const claimed = this.inbox.claim(step === 1 ? 'next-turn' : 'next-step');
      const system = this.#assemble();
      const decision = await this.hooks.beforeStep(claimed, at, activity);
      if (activity.aborted) break;
      if (decision.kind === 'reject') return { kind: 'blocked' };
      if (decision.messages.length === 0 && (step === 1 || ended)) break;
      const ends = await this.#step(at, decision.messages, system, activity);
      truncated ||= ends?.kind === 'max-tokens';
      ended = ends !== undefined;
      if (!ended || this.inbox.hasNextStep) continue;
      await this.hooks.turnStopping(reason(), at, activity);
      if (!this.inbox.hasNextStep) break;
    }
    return reason();
  }

  async #step(
    at: StepPosition,
    messages: readonly UserMessage[],
    system: string | undefined,
    activity: Activity,
  ): Promise<TurnEndReason | undefined> {
    this.session.append('step/start', at);
    try {
      for (const message of messages) this.session.append('user/message', message, { surfaceOp: 'append' });
      return activity.aborted ? undefined : await this.steps.run(at, system, activity);
    } finally {
      this.session.append('step/end', at);
    }
  }

  #assemble(): string | undefined {
    const { provider, model } = this.route;
    return this.systemPrompt?.assemble(this.#sections, { provider, model, cwd: this.session.header.cwd ?? '' });
  }
}
