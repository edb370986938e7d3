import type { ContentBlock, FinishReason, StreamChunk, TokenUsage, ToolCallBlock } from '../../protocol/index.js';

/** A whole answer, to be told as a stream. */
export interface Answer {
  readonly reasoning?: string;
  readonly text?: string;
  readonly toolCalls?: readonly Omit<ToolCallBlock, 'type'>[];
  readonly usage?: TokenUsage;
  /** Default: `tool-calls` when there are some, else `stop`. */
  readonly finish?: FinishReason['kind'] & ('stop' | 'tool-calls' | 'max-tokens');
}

/** The chunks of an answer: a batch for each delta, and those that close it. Block-ends wait, as DeepSeek's do. */
export interface AnswerChunks {
  readonly deltas: readonly (readonly StreamChunk[])[];
  readonly closing: readonly StreamChunk[];
}

/** `chunkSize`: code points a delta; default: one delta a block. */
export function chunksOf(answer: Answer, chunkSize = Number.POSITIVE_INFINITY): AnswerChunks {
  const blocks = blocksOf(answer);
  return {
    deltas: blocks.flatMap((block, index) => deltasOf(block, index, chunkSize)),
    closing: [
      ...blocks.map((block, index): StreamChunk => ({ type: 'block-end', index, block })),
      ...(answer.usage === undefined ? [] : [{ type: 'usage', usage: answer.usage } as const]),
      { type: 'finish', reason: { kind: answer.finish ?? (answer.toolCalls?.length ? 'tool-calls' : 'stop') } },
    ],
  };
}

type AnswerBlock = Extract<ContentBlock, { type: 'text' | 'reasoning' | 'tool-call' }>;

function blocksOf({ reasoning = '', text = '', toolCalls = [] }: Answer): AnswerBlock[] {
  return [
    ...(reasoning === '' ? [] : [{ type: 'reasoning', text: reasoning } as const]),
    ...(text === '' ? [] : [{ type: 'text', text } as const]),
    ...toolCalls.map((call) => ({ type: 'tool-call', ...call }) as const),
  ];
}

function deltasOf(block: AnswerBlock, index: number, chunkSize: number): StreamChunk[][] {
  const pieces = cut(block.type === 'tool-call' ? block.arguments : block.text, chunkSize);
  return pieces.map((piece, at) => {
    const delta = deltaOf(block, index, piece, at === 0);
    return at === 0 ? [{ type: 'block-start', index, blockType: block.type }, delta] : [delta];
  });
}

function deltaOf(block: AnswerBlock, index: number, piece: string, isFirst: boolean): StreamChunk {
  if (block.type === 'text') return { type: 'text-delta', index, text: piece };
  if (block.type === 'reasoning') return { type: 'reasoning-delta', index, text: piece };
  return {
    type: 'tool-call-delta',
    index,
    id: block.id,
    ...(isFirst ? { name: block.name } : {}),
    argumentsDelta: piece,
  };
}

/** At least one piece; none splits a code point. */
function cut(text: string, chunkSize: number): string[] {
  if (text.length <= chunkSize) return [text];
  const points = Array.from(text);
  const pieces: string[] = [];
  for (let at = 0; at < points.length; at += chunkSize) pieces.push(points.slice(at, at + chunkSize).join(''));
  return pieces;
}
