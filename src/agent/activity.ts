import type { TurnEndReason } from '../protocol/index.js';
import type { Agent } from './agent.js';
import type { HookContext } from './hooks.js';
import type { StepPosition } from './step-position.js';

/** An agent's leave to run one turn, or a job. Aborted at most once: the first ending stands (core §3.7). */
export class Activity {
  readonly #controller = new AbortController();
  readonly #waits = new Set<() => void>();
  #ending: TurnEndReason | undefined;

  constructor(readonly agent: Agent) {}

  /** For the model call and the tools of this turn. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether {@link ending} is set. */
  get aborted(): boolean {
    return this.#ending !== undefined;
  }

  /** How the turn has to end; undefined while it may go on. */
  get ending(): TurnEndReason | undefined {
    return this.#ending;
  }

  /** Sets the ending, aborts the signal and lets go of every {@link until}. Later calls do nothing. */
  abort(ending: TurnEndReason): void {
    if (this.#ending !== undefined) return;
    this.#ending = ending;
    this.#controller.abort();
    for (const release of this.#waits) release();
    this.#waits.clear();
  }

  /** What a hook is told when it is asked at this point. */
  context({ turn, step }: StepPosition): HookContext {
    return { agent: this.agent, turn, step, signal: this.signal };
  }

  /**
   * What `work` gives, or undefined as soon as the activity is aborted: for work that may ignore the signal. What
   * becomes of the work after that is ignored.
   */
  until<T>(work: PromiseLike<T>): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      const release = (): void => resolve(undefined);
      if (this.aborted) release();
      else this.#waits.add(release);
      work.then(
        (value) => {
          this.#waits.delete(release);
          resolve(value);
        },
        (thrown: unknown) => {
          this.#waits.delete(release);
          reject(thrown);
        },
      );
    });
  }
}
