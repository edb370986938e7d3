import { isEvent, type SessionEvent, type TokenUsage, type TurnEndReason } from '../../protocol/index.js';

/** One turn, as people ask about it. */
export interface TurnDigest {
  readonly turn: number;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  endedAt?: number;
  /** How it ended; absent while it is open. */
  reason?: TurnEndReason;
  steps: number;
  toolCalls: number;
  /** Came with the fork: it was counted where it was made. */
  readonly inherited?: true;
}
/** What one model was used for. */
export interface ModelDigest {
  readonly provider: string;
  readonly model: string;
  /** Model calls that told their usage, failed ones included. */
  calls: number;
  usage: TokenUsage;
}

/**
 * What a log comes to. Usage is counted once a model call (E4): by its `assistant/message`, or, where the call failed
 * and left none, by its chunk. Inherited events are not counted.
 */
export class SessionDigest {
  title: string | undefined;
  eventCount = 0;
  readonly turns: TurnDigest[] = [];
  readonly models: ModelDigest[] = [];
  readonly #seedLength: number;
  /** Of the call that is going on. */
  #chunkUsage: TokenUsage | undefined;
  #route = { provider: '', model: '' };

  /** `seedLength`: how many leading events were inherited. */
  constructor(seedLength = 0) {
    this.#seedLength = seedLength;
  }

  /** Takes the next event. */
  add(event: SessionEvent): void {
    const { seq, time } = event;
    this.eventCount += 1;
    const inherited = seq < this.#seedLength;
    const open = this.turns.at(-1);
    if (isEvent(event, 'assistant/chunk')) {
      const { chunk } = event.data;
      if (chunk.type === 'usage' && !inherited) this.#chunkUsage = chunk.usage;
    } else if (isEvent(event, 'assistant/message')) {
      const { message, usage = this.#chunkUsage } = event.data;
      if (!inherited) this.#count(message.source, usage);
    } else if (isEvent(event, 'llm/retry')) this.#count(this.#route, this.#chunkUsage);
    else if (isEvent(event, 'request/header')) this.#route = event.data.header.config;
    else if (isEvent(event, 'session/title')) this.title = event.data.title;
    else if (isEvent(event, 'turn/start')) {
      this.turns.push({
        turn: event.data.turn,
        startedAt: time,
        steps: 0,
        toolCalls: 0,
        ...(inherited && { inherited }),
      });
    } else if (open !== undefined) {
      if (isEvent(event, 'step/start')) open.steps += 1;
      else if (isEvent(event, 'tool/call')) open.toolCalls += 1;
      else if (isEvent(event, 'step/end')) this.#count(this.#route, this.#chunkUsage);
      else if (isEvent(event, 'turn/end')) Object.assign(open, { endedAt: time, reason: event.data.reason });
    }
  }

  #count(
    { provider, model }: { readonly provider: string; readonly model: string },
    usage: TokenUsage | undefined,
  ): void {
    this.#chunkUsage = undefined;
    if (usage === undefined) return;
    const known = this.models.find((one) => one.provider === provider && one.model === model);
    if (known === undefined) this.models.push({ provider, model, calls: 1, usage });
    else Object.assign(known, { calls: known.calls + 1, usage: sumOf([known.usage, usage]) });
  }
}

/** A count that none of them knows stays unknown. */
export function sumOf(usages: readonly TokenUsage[]): TokenUsage {
  const sum: Record<string, number> = { inputTokens: 0, outputTokens: 0 };
  for (const usage of usages) {
    for (const [name, count] of Object.entries(usage)) sum[name] = (sum[name] ?? 0) + (count as number);
  }
  return sum as unknown as TokenUsage;
}
