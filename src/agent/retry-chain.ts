import { createHash, randomUUID } from 'node:crypto';
import type { RetryPolicy } from '../model/index.js';
import type { LlmFailure } from '../protocol/index.js';

/** One more attempt, as `llm/retry` tells of it. */
export interface Retry {
  /** From 1. */
  readonly retry: number;
  /** The last there can be as things stand; undefined where a time budget decides, or none does. */
  readonly maxRetries?: number;
  readonly delayMs: number;
}

/** Where a chain takes chance and time from. */
export interface RetrySources {
  /** Gives 0 to 1, exclusive. */
  readonly random: () => number;
  /** Milliseconds; never goes backwards. */
  readonly now: () => number;
}

const SYSTEM: RetrySources = { random: Math.random, now: () => performance.now() };

/** The retries of one step at one provider under one policy (core §3.6, decision 28). */
export class RetryChain {
  readonly id = randomUUID();
  #retries = 0;
  /** Those that count against `maxRetries`. */
  #counted = 0;
  #answeredEmpty = false;
  #overloadedSince: number | undefined;

  constructor(
    readonly policy: RetryPolicy,
    private readonly sources: RetrySources = SYSTEM,
  ) {}

  /** Takes the next retry for a failure, or gives undefined: the failure stands. */
  next(failure: LlmFailure): Retry | undefined {
    const delayMs = this.#delay(failure);
    if (delayMs === undefined || !this.#grants(failure, delayMs)) return undefined;
    this.#retries += 1;
    const left = this.#left(failure);
    return { retry: this.#retries, ...(left !== undefined && { maxRetries: this.#retries + left }), delayMs };
  }

  #grants(failure: LlmFailure, delayMs: number): boolean {
    const { mode, codes, maxRetries, overloadBudgetMs } = this.policy;
    if (mode === 'always') return true;
    if (!codes.includes(failure.code)) return false;
    if (isOverload(failure)) {
      const now = this.sources.now();
      this.#overloadedSince ??= now;
      return now - this.#overloadedSince + delayMs <= overloadBudgetMs;
    }
    if (this.#counted >= maxRetries || (failure.code === EMPTY && this.#answeredEmpty)) return false;
    this.#counted += 1;
    this.#answeredEmpty ||= failure.code === EMPTY;
    return true;
  }

  /** How many retries may follow the one just taken. */
  #left(failure: LlmFailure): number | undefined {
    const { mode, maxRetries } = this.policy;
    if (mode === 'always' || isOverload(failure)) return undefined;
    return failure.code === EMPTY ? 0 : maxRetries - this.#counted;
  }

  /** Milliseconds; undefined when the provider wants more patience than the policy has. */
  #delay({ providerRetryAfterMs: asked }: LlmFailure): number | undefined {
    const { mode, initialDelayMs, maxDelayMs, jitterRatio } = this.policy;
    if (asked !== undefined && asked <= maxDelayMs) return asked;
    if (asked !== undefined && mode === 'normal') return undefined;
    const delay = Math.min(initialDelayMs * 2 ** Math.min(this.#retries, MAX_DOUBLINGS), maxDelayMs);
    const varied = delay * (1 + jitterRatio * (2 * this.sources.random() - 1));
    return Math.round(Math.min(varied, maxDelayMs));
  }
}

/** The chains of one step, by provider and policy: a step that changes either begins anew. */
export class StepRetries {
  readonly #chains = new Map<string, RetryChain>();

  /** The chain of whoever served the failed request. */
  chain(provider: string, policy: RetryPolicy): RetryChain {
    const key = JSON.stringify([provider, policyKey(policy)]);
    const chain = this.#chains.get(key) ?? new RetryChain(policy);
    this.#chains.set(key, chain);
    return chain;
  }
}

/** Tells policies apart by what they say, in this process and in others. */
export function policyKey(policy: RetryPolicy): string {
  const { mode, maxRetries, codes, initialDelayMs, maxDelayMs, jitterRatio, overloadBudgetMs } = policy;
  const said = [mode, maxRetries, codes, initialDelayMs, maxDelayMs, jitterRatio, overloadBudgetMs];
  return createHash('sha256').update(JSON.stringify(said)).digest('hex').slice(0, 16);
}

const EMPTY = 'EMPTY_RESPONSE';
/** More would only leave the range of numbers. */
const MAX_DOUBLINGS = 50;

function isOverload({ status, providerRetryAfterMs }: LlmFailure): boolean {
  return status === 503 || status === 529 || (status === 429 && providerRetryAfterMs === undefined);
}
