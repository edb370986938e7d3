import { setImmediate } from 'node:timers/promises';
import { inject, injectable } from 'inversify';
import { CodedError, Deferred } from '../base/index.js';
import { CurrentScope, type Scope } from '../kernel/index.js';
import { Logger } from '../logging/index.js';
import type { CancelCause, SdkRunStatus, UserMessage } from '../protocol/index.js';
import { Notifications, Session } from '../session/index.js';
import { Activity } from './activity.js';
import { type Agent, AgentRoute } from './agent.js';
import { failureOf } from './failure.js';
import { Inbox } from './inbox.js';
import { TurnLoop } from './turn-loop.js';

/**
 * Drives turns while the inbox gives a reason to: from the first wake to idle, one turn after the other (core §3.1).
 * A turn that failed, was aborted or was blocked does not park the prompts behind it.
 */
@injectable()
export class LoopAgent implements Agent {
  #status: SdkRunStatus = 'idle';
  #activity: Activity | undefined;
  /** Whether a driver or a job has the session: a wake is left to what it does when it ends. */
  #driving = false;
  #disposed = false;
  /** What keeps {@link whenIdle} waiting: the driver or a job, and messages on their way in. */
  #busy = 0;
  #idle: Deferred<void> | undefined;
  readonly #logger: Logger;

  constructor(
    @inject(CurrentScope) scope: Scope,
    @inject(Session) readonly session: Session,
    @inject(AgentRoute) readonly route: AgentRoute,
    @inject(Inbox) private readonly inbox: Inbox,
    @inject(TurnLoop) private readonly turns: TurnLoop,
    @inject(Notifications) private readonly notifications: Notifications,
    @inject(Logger) logger: Logger,
  ) {
    this.#logger = logger.child('agent');
    const unsubscribe = session.onStoreFailed((failure) =>
      this.#activity?.abort({ kind: 'error', error: failureOf(failure) }),
    );
    scope.defer('agent', async () => {
      try {
        this.cancel({ kind: 'disposed' });
      } finally {
        await this.whenIdle();
        unsubscribe();
      }
    });
  }

  get id(): string {
    return this.session.id;
  }

  get status(): SdkRunStatus {
    return this.#status;
  }

  get isBusy(): boolean {
    return this.#busy > 0;
  }

  followup(message: UserMessage): Promise<void> {
    return this.#admit('followup', message);
  }

  steer(message: UserMessage): Promise<void> {
    return this.#admit('steer', message);
  }

  inject(message: UserMessage): Promise<void> {
    return this.#admit('inject', message);
  }

  cancel(cause: CancelCause, options?: { readonly keepInbox?: boolean }): void {
    if (this.#disposed) return;
    if (cause.kind === 'disposed') this.#disposed = true;
    try {
      if (options?.keepInbox !== true) this.inbox.clear();
    } finally {
      this.#activity?.abort({ kind: 'aborted', reason: cause });
    }
  }

  async runMaintenance<T>(job: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.#assertLive();
    if (this.isBusy) throw new CodedError('AGENT_BUSY', `agent ${JSON.stringify(this.id)} already has active work`);
    const activity = new Activity(this);
    this.#activity = activity;
    this.#driving = true;
    this.#enter();
    try {
      return await job(activity.signal);
    } finally {
      this.#activity = undefined;
      this.#driving = false;
      this.#wake();
      this.#leave();
    }
  }

  whenIdle(): Promise<void> {
    if (!this.isBusy) return Promise.resolve();
    this.#idle ??= new Deferred<void>();
    return this.#idle.promise;
  }

  async #admit(verb: 'followup' | 'steer' | 'inject', message: UserMessage): Promise<void> {
    this.#assertLive();
    this.#enter();
    try {
      if (this.session.storeFailure !== undefined) {
        const retried = this.session.save();
        if (retried !== undefined) await retried;
        this.#assertLive();
      }
      // The turn that a steer was meant for is being aborted: it gets one of its own.
      const forTurn = verb === 'followup' || (verb === 'steer' && this.#activity?.aborted === true);
      const queued = this.inbox.push(forTurn ? 'next-turn' : 'next-step', message, verb !== 'inject');
      try {
        const saved = this.session.save();
        if (saved !== undefined) await saved;
      } catch (thrown) {
        this.inbox.takeBack(queued);
        throw thrown;
      }
      queued.stored = true;
      this.#assertLive();
      if (queued.wakes) this.#wake();
    } finally {
      this.#leave();
    }
  }

  #assertLive(): void {
    if (this.#disposed) throw new CodedError('AGENT_DISPOSED', `agent ${JSON.stringify(this.id)} is disposed`);
  }

  #wake(): void {
    if (this.#driving || !this.#mayRun) return;
    this.#driving = true;
    this.#enter();
    void this.#drive();
  }

  get #mayRun(): boolean {
    return this.inbox.wakes && !this.#disposed;
  }

  /** Never rejects. A message that arrives while `idle` is told is picked up here, after everybody was told. */
  async #drive(): Promise<void> {
    let usable: boolean;
    do {
      this.#activity = new Activity(this);
      this.#tell('running');
      usable = await this.#runTurns(this.#activity);
      this.#activity = undefined;
      this.#tell('idle');
    } while (usable && this.#mayRun);
    this.#driving = false;
    this.#leave();
  }

  /** Turns until nothing is runnable; false when the session does not take events any more. */
  async #runTurns(first: Activity): Promise<boolean> {
    for (let activity = first; ; this.#activity = activity = new Activity(this)) {
      try {
        const reason = activity.aborted ? activity.ending : await this.turns.run(activity);
        this.#logger.info('turn ended', { sessionId: this.id, turn: this.session.lastTurn, reason });
        const inOrder = reason?.kind === 'completed' || reason?.kind === 'max-tokens';
        const goesOn = (): boolean => !this.#disposed && (inOrder ? this.inbox.hasClaimable : this.inbox.wakes);
        // Turns that fail at once, one after the other, leave room for whoever else wants to run.
        if (goesOn() && !inOrder) await setImmediate();
        if (!goesOn()) return true;
      } catch (thrown) {
        this.#logger.error('a turn could not be logged', { sessionId: this.id, error: thrown });
        return false;
      }
    }
  }

  #tell(status: SdkRunStatus): void {
    this.#status = status;
    this.notifications.sessionStatus(this.id, status);
  }

  #enter(): void {
    this.#busy += 1;
  }

  #leave(): void {
    this.#busy -= 1;
    if (this.#busy > 0) return;
    this.#idle?.resolve();
    this.#idle = undefined;
  }
}
