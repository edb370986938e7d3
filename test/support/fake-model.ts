import type { ModelAdapter, ModelInfo, ModelRequest, PreparedCall, ProviderInfo } from '../../src/model/index.js';
import type { CallConfig, ContentBlock, FinishReason, StreamChunk, TokenUsage } from '../../src/protocol/index.js';

/** How the fake model answers one request: batches, as they arrive together. */
export type Reply = (request: ModelRequest) => AsyncIterable<readonly StreamChunk[]>;

/** A model whose answers a test writes: `replies` in order, then `otherwise`. */
export class FakeModel implements ModelAdapter {
  readonly providers: readonly ProviderInfo[] = [{ id: 'fake', name: 'Fake', catalog: 'advisory' }];
  readonly requests: ModelRequest[] = [];
  readonly replies: Reply[] = [];
  otherwise: Reply = () => says({ text: 'ok' });
  prepared: (config: CallConfig) => Omit<PreparedCall, 'stream'> = (config) => ({ config });

  models(): readonly ModelInfo[] {
    return [];
  }

  prepare(config: CallConfig): PreparedCall {
    return {
      ...this.prepared(config),
      stream: (request) => {
        this.requests.push(request);
        return (this.replies.shift() ?? this.otherwise)(request);
      },
    };
  }
}

/** What an answer says, blocks in this order. */
export interface Answered {
  readonly reasoning?: string;
  readonly text?: string;
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly arguments?: string }[];
  readonly usage?: TokenUsage;
  readonly finish?: FinishReason;
}

/** The chunks of an answer: a delta a word. */
export function chunksOf({ reasoning, text, calls = [], usage, finish }: Answered): readonly StreamChunk[] {
  const blocks: ContentBlock[] = [];
  if (reasoning !== undefined) blocks.push({ type: 'reasoning', text: reasoning });
  if (text !== undefined) blocks.push({ type: 'text', text });
  for (const call of calls) blocks.push({ type: 'tool-call', arguments: '', ...call });
  const chunks = blocks.flatMap((block, index): StreamChunk[] => [
    ...opened(block, index),
    { type: 'block-end', index, block },
  ]);
  if (usage !== undefined) chunks.push({ type: 'usage', usage });
  chunks.push({ type: 'finish', reason: finish ?? { kind: calls.length > 0 ? 'tool-calls' : 'stop' } });
  return chunks;
}

function opened(block: ContentBlock, index: number): StreamChunk[] {
  if (block.type === 'tool-call') {
    const { id, name, arguments: argumentsDelta } = block;
    return [
      { type: 'block-start', index, blockType: 'tool-call' },
      { type: 'tool-call-delta', index, id, name, argumentsDelta },
    ];
  }
  if (block.type !== 'text' && block.type !== 'reasoning') throw new Error(`a model does not say ${block.type}`);
  const { type } = block;
  const words = block.text.split(/(?<= )/);
  return [
    { type: 'block-start', index, blockType: type },
    ...words.map((text): StreamChunk => ({ type: `${type}-delta`, index, text })),
  ];
}

/** An answer in one batch. */
export async function* says(answer: Answered): AsyncGenerator<readonly StreamChunk[]> {
  yield chunksOf(answer);
}

/** Streams these chunks in one batch, then nothing more; ends only with the abort, as an adapter should. */
export async function* hangs(
  request: ModelRequest,
  ...chunks: readonly StreamChunk[]
): AsyncGenerator<readonly StreamChunk[]> {
  if (chunks.length > 0) yield chunks;
  await new Promise<void>((resolve) => {
    if (request.signal.aborted) resolve();
    else request.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  request.signal.throwIfAborted();
}

/** Streams these chunks, then nothing more, and ignores the abort. */
export async function* hangsForGood(...chunks: readonly StreamChunk[]): AsyncGenerator<readonly StreamChunk[]> {
  if (chunks.length > 0) yield chunks;
  await new Promise<never>(() => undefined);
}

/** A failed request. */
export async function* fails(
  code: string,
  message: string,
  ...before: readonly StreamChunk[]
): AsyncGenerator<readonly StreamChunk[]> {
  yield [...before, { type: 'finish', reason: { kind: 'error', failure: { code, message } } }];
}
