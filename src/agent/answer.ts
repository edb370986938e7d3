import type { ContentBlock, FinishReason, JsonValue, LlmFailure, StreamChunk, TokenUsage } from '../protocol/index.js';

/** One attempt's answer, put together from its chunks (core §2.6, 2.7). */
export class Answer {
  /** Seqs of exactly this attempt's chunk events. */
  readonly seqs: number[] = [];
  readonly #blocks = new Map<number, ContentBlock>();
  #usage: TokenUsage | undefined;
  #finish: FinishReason | undefined;
  #replayState: JsonValue | undefined;

  get usage(): TokenUsage | undefined {
    return this.#usage;
  }

  /** Undefined until the stream has finished. */
  get finish(): FinishReason | undefined {
    return this.#finish;
  }

  get replayState(): JsonValue | undefined {
    return this.#replayState;
  }

  /** Whether the stream ended in order, whatever it said. */
  get isWhole(): boolean {
    const kind = this.#finish?.kind;
    return kind !== undefined && kind !== 'error' && kind !== 'aborted';
  }

  /** Why this is no answer: its stream broke, or it stopped without having said or called anything (decision 28). */
  get failure(): LlmFailure | undefined {
    const finish = this.#finish;
    if (finish === undefined) return STREAM_CLOSED;
    if (finish.kind === 'error' || finish.kind === 'aborted') return finish.failure;
    const isEmpty = this.content.every((block) => block.type === 'reasoning');
    return isEmpty && finish.kind !== 'max-tokens' ? EMPTY_RESPONSE : undefined;
  }

  /** Takes the next chunk, logged as event `seq`. */
  add(chunk: StreamChunk, seq: number): void {
    this.seqs.push(seq);
    switch (chunk.type) {
      case 'text-delta':
        this.#extend(chunk.index, 'text', chunk.text);
        break;
      case 'reasoning-delta':
        this.#extend(chunk.index, 'reasoning', chunk.text);
        break;
      case 'block-end':
        this.#blocks.set(chunk.index, chunk.block);
        break;
      case 'usage':
        this.#usage = chunk.usage;
        break;
      case 'finish':
        this.#finish = chunk.reason;
        this.#replayState = chunk.replayState;
        break;
    }
  }

  /** The blocks in index order. An answer cut at the output cap has no tool calls: they may be torn. */
  get content(): readonly ContentBlock[] {
    const blocks = [...this.#blocks].sort(([a], [b]) => a - b).map(([, block]) => block);
    return this.#finish?.kind === 'max-tokens' ? blocks.filter((block) => block.type !== 'tool-call') : blocks;
  }

  /** What an abort leaves: text and reasoning that say something. */
  get readable(): readonly ContentBlock[] {
    return this.content.filter(
      (block) => (block.type === 'text' || block.type === 'reasoning') && /\S/.test(block.text),
    );
  }

  #extend(index: number, type: 'text' | 'reasoning', text: string): void {
    const open = this.#blocks.get(index) as { type: string; text: string } | undefined;
    if (open === undefined) this.#blocks.set(index, { type, text });
    else open.text += text;
  }
}

const STREAM_CLOSED: LlmFailure = { code: 'STREAM_CLOSED', message: 'the model stream ended without a finish' };
const EMPTY_RESPONSE: LlmFailure = { code: 'EMPTY_RESPONSE', message: 'the model stopped without an answer' };
