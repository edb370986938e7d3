import { setImmediate } from 'node:timers/promises';
import { headOf } from '../../base/index.js';
import type { ContentBlock, Message, StreamChunk, ToolResultBlock } from '../../protocol/index.js';
import type { ModelRequest } from '../adapter.js';
import { type Answer, chunksOf } from './answer.js';
import { textOfMessage } from './message-text.js';

const SHELL = 'bash';
const CHUNK_SIZE = 12;
const MAX_QUOTED_CHARS = 2_000;

/**
 * A model that needs no network: it looks at the workspace with one harmless shell command, then tells what it saw
 * and what it was asked. All it knows is in the messages, so every turn of a session goes the same way.
 */
export async function* playDemo(request: ModelRequest): AsyncGenerator<readonly StreamChunk[]> {
  const { deltas, closing } = chunksOf(answerTo(request), CHUNK_SIZE);
  for (const delta of deltas) {
    await setImmediate(undefined, { signal: request.signal });
    yield delta;
  }
  yield closing;
}

function answerTo({ messages, tools = [] }: ModelRequest): Answer {
  const last = messages.at(-1);
  const content: readonly ContentBlock[] = last?.content ?? [];
  const result = content.find((block): block is ToolResultBlock => block.type === 'tool-result');
  if (last !== undefined && result !== undefined) {
    const said = result.isError ? 'The shell failed:' : 'The shell answered:';
    return {
      reasoning: 'Now I have seen the workspace.',
      text: [youAsked(messages), said, '', quote(textOfMessage(last)), '', SIGNATURE].join('\n'),
    };
  }
  if (!tools.some((tool) => tool.name === SHELL)) {
    return {
      reasoning: 'There is no shell to look with.',
      text: [youAsked(messages), SIGNATURE].join('\n'),
    };
  }
  return {
    reasoning: 'First I look at what is in the workspace.',
    toolCalls: [
      {
        id: `demo-${messages.flatMap<ContentBlock>((message) => message.content).filter(isToolCall).length + 1}`,
        name: SHELL,
        arguments: JSON.stringify({ command: 'pwd; ls -la' }),
      },
    ],
  };
}

function youAsked(messages: readonly Message[]): string {
  const prompt = messages.findLast((message) => message.source.kind === 'user');
  return prompt === undefined ? 'You asked nothing.\n' : `You asked:\n\n${quote(textOfMessage(prompt))}\n`;
}

function quote(text: string): string {
  const head = headOf(text, MAX_QUOTED_CHARS);
  return (head === text ? text.trimEnd() : `${head}…`).replace(/^/gm, '> ');
}

function isToolCall(block: ContentBlock): boolean {
  return block.type === 'tool-call';
}

const SIGNATURE = 'This is the built-in offline model: it makes no network call, and it understands nothing.';
