import { inject, injectable } from 'inversify';
import { CurrentScope, type Scope } from '../kernel/index.js';
import type { SdkRunStatus } from '../protocol/index.js';
import type { NotificationListener } from '../session/index.js';
import { AgentConfig } from './agent-config.js';

/**
 * Which sessions are idle and for how long, and which of them is due (decision 40). Runtime scope; told by the registry
 * of sessions that come and go, and as a listener of their status.
 */
@injectable()
export class IdleSessions implements NotificationListener {
  /** Since when, by {@link performance.now}; the longest first, as every entry is new when it is made. */
  readonly #idle = new Map<string, number>();
  /** Those that were due and could not go: neither counted nor asked before the timeout has passed once more. */
  readonly #held = new Map<string, number>();
  #evict: (id: string) => boolean = () => true;
  #timer: NodeJS.Timeout | undefined;
  /** When {@link #timer} fires. */
  #dueAt = Number.POSITIVE_INFINITY;

  constructor(
    @inject(CurrentScope) scope: Scope,
    @inject(AgentConfig) private readonly config: AgentConfig,
  ) {
    scope.defer('idle sessions', () => clearTimeout(this.#timer));
  }

  /**
   * Says who evicts: called for each session that is due, from a timer, never while anything awaited goes on.
   *
   * @param evict whether the session could go
   */
  onDue(evict: (id: string) => boolean): void {
    this.#evict = evict;
  }

  /** A session that is live and idle, from now. */
  add(id: string): void {
    this.delete(id);
    this.#idle.set(id, performance.now());
    this.#arm();
  }

  /** A session that is not idle, or gone. */
  delete(id: string): void {
    this.#idle.delete(id);
    this.#held.delete(id);
  }

  sessionStatus(id: string, status: SdkRunStatus): void {
    if (status === 'idle') this.add(id);
    else this.delete(id);
  }

  get #tooMany(): boolean {
    return this.#idle.size > this.config.maxIdleSessions;
  }

  #arm(): void {
    const dueAt = this.#tooMany ? performance.now() : this.#firstDue();
    if (dueAt >= this.#dueAt) return;
    clearTimeout(this.#timer);
    this.#dueAt = dueAt;
    this.#timer = setTimeout(() => this.#sweep(), dueAt - performance.now());
    this.#timer.unref();
  }

  #firstDue(): number {
    const [idle = Number.POSITIVE_INFINITY] = this.#idle.values();
    const [held = Number.POSITIVE_INFINITY] = this.#held.values();
    return Math.min(idle, held) + this.config.idleTimeoutMs;
  }

  #sweep(): void {
    this.#dueAt = Number.POSITIVE_INFINITY;
    const now = performance.now();
    const isOver = (since: number): boolean => since + this.config.idleTimeoutMs <= now;
    for (const [id, since] of this.#held) {
      if (!isOver(since)) break;
      this.#try(id, now);
    }
    for (const [id, since] of this.#idle) {
      if (!this.#tooMany && !isOver(since)) break;
      this.#try(id, now);
    }
    this.#arm();
  }

  #try(id: string, now: number): void {
    this.delete(id);
    if (!this.#evict(id)) this.#held.set(id, now);
  }
}
