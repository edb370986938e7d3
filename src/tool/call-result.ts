import { freezeJson, toError } from '../base/index.js';
import type { ContentBlock } from '../protocol/index.js';
import { InvalidToolOutputError } from './errors.js';
import type { ToolOutcome } from './executor.js';
import type { Tool } from './tool.js';

const BLOCK_TYPES = new Set(['text', 'reasoning', 'image', 'tool-call', 'tool-result']);

/**
 * What the model sees of a body's value (decision 33).
 *
 * @throws InvalidToolOutputError
 */
export function success(tool: Tool, value: unknown): ToolOutcome {
  const rendered = tool.render === undefined ? value : tool.render(value);
  return { content: content(tool, rendered), isError: false };
}

/** What the model sees of a throw; `error` only when it was coded. */
export function failure(thrown: unknown): ToolOutcome {
  const error = toError(thrown);
  const code = harnessCode(error);
  return {
    content: [text(`Error: ${error.message}`)],
    isError: true,
    ...(code !== undefined && { error: { name: error.name, code } }),
  };
}

function content(tool: Tool, value: unknown): readonly ContentBlock[] {
  if (typeof value === 'string') return [text(value)];
  assertJson(tool, value);
  if (!isContent(value)) return [text(JSON.stringify(value))];
  return value.map((block) => {
    if (block.type !== 'text' && block.type !== 'reasoning') return block;
    if (typeof block.text !== 'string')
      throw new InvalidToolOutputError(tool.name, `a ${block.type} block has no text`);
    return { ...block, text: block.text.toWellFormed() };
  });
}

function assertJson(tool: Tool, value: unknown): void {
  try {
    freezeJson(value, 'value');
  } catch (thrown) {
    throw new InvalidToolOutputError(tool.name, toError(thrown).message);
  }
}

function isContent(value: unknown): value is readonly ContentBlock[] {
  return Array.isArray(value) && value.length > 0 && value.every((block) => BLOCK_TYPES.has(block?.type));
}

function text(value: string): ContentBlock {
  return { type: 'text', text: value.toWellFormed() };
}

/**
 * The code of an error that was coded for us. By shape, as a plugin may carry its own copy of our error class; system
 * errors (`errno`, `syscall`) and those of Node (`ERR_…`) have codes too, but say nothing about a call.
 */
function harnessCode(error: Error): string | undefined {
  const { code, errno, syscall } = error as { code?: unknown; errno?: unknown; syscall?: unknown };
  if (typeof code !== 'string' || code.startsWith('ERR_')) return undefined;
  return errno === undefined && syscall === undefined ? code : undefined;
}
