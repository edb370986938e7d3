import type { ModelRequest } from '../../src/model/index.js';
import type { AssistantMessage, ContentBlock, Message, StreamChunk, UserMessage } from '../../src/protocol/index.js';
import { assertChunkGrammar } from './chunk-grammar.js';

let messages = 0;

/** A request as the loop makes them, of one prompt; `fields` replace its parts. */
export function modelRequest(fields: Partial<ModelRequest> = {}): ModelRequest {
  return {
    config: { provider: 'deepseek-official', model: 'deepseek-v4-flash' },
    messages: [user('hello')],
    sessionId: 's-1',
    signal: new AbortController().signal,
    ...fields,
  };
}

export function user(...content: readonly (string | ContentBlock)[]): UserMessage {
  messages += 1;
  return { id: `m-${messages}`, role: 'user', content: content.map(blockOf), source: { kind: 'user' } };
}

export function assistant(...content: readonly (string | ContentBlock)[]): AssistantMessage {
  messages += 1;
  const source = { kind: 'model', provider: 'deepseek-official', model: 'deepseek-v4-flash' } as const;
  return { id: `m-${messages}`, role: 'assistant', content: content.map(blockOf), source };
}

export function toolResult(callId: string, ...content: readonly (string | ContentBlock)[]): Message {
  messages += 1;
  return {
    id: `m-${messages}`,
    role: 'user',
    content: [{ type: 'tool-result', toolCallId: callId, content: content.map(blockOf) }],
    source: { kind: 'tool', callId },
  };
}

/** All chunks of a stream, whose grammar is judged. */
export async function collect(stream: AsyncIterable<readonly StreamChunk[]>): Promise<readonly StreamChunk[]> {
  const chunks: StreamChunk[] = [];
  for await (const batch of stream) chunks.push(...batch);
  assertChunkGrammar(chunks);
  return chunks;
}

/** The finish of a stream: its kind, with the failure's facts where it failed. */
export function finishOf(chunks: readonly StreamChunk[]): unknown {
  const last = chunks.at(-1);
  return last?.type === 'finish' ? last.reason : undefined;
}

/** The text of all deltas of one kind. */
export function said(chunks: readonly StreamChunk[], type: 'text-delta' | 'reasoning-delta' = 'text-delta'): string {
  return chunks.map((chunk) => (chunk.type === type ? chunk.text : '')).join('');
}

function blockOf(block: string | ContentBlock): ContentBlock {
  return typeof block === 'string' ? { type: 'text', text: block } : block;
}
