import { isObject } from '../../base/index.js';
import type { TokenUsage } from '../../protocol/index.js';

/** One payload of the stream, as far as it is read; nothing in it can be relied on. */
export interface Payload {
  readonly error?: unknown;
  readonly usage?: unknown;
  readonly choices?: unknown;
}
/** A piece of one tool call; `arguments` is text, but for the servers that send an object. */
export interface CallFragment {
  readonly index?: unknown;
  readonly id?: unknown;
  readonly function?: { readonly name?: unknown; readonly arguments?: unknown } | null;
}

/** Text as it stands, or the parts of it that are text. */
export function textOf(content: unknown): string {
  if (!Array.isArray(content)) return stringOf(content);
  return content.map((part) => (isObject(part) && part.type === 'text' ? stringOf(part.text) : '')).join('');
}

/** Raw JSON text; some servers send the object itself. */
export function argumentsOf(value: unknown): string {
  return isObject(value) ? JSON.stringify(value) : stringOf(value);
}

/** The id of a call; some servers number theirs. */
export function idOf(value: unknown): string {
  return typeof value === 'number' ? String(value) : stringOf(value);
}

/** Whether `text` is the whole text of some JSON value. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Token counts, undefined unless both sides are told (core §5.5). */
export function usageOf(value: unknown): TokenUsage | undefined {
  if (!isObject(value)) return undefined;
  const prompt = countOf(value.prompt_tokens);
  const output = countOf(value.completion_tokens);
  if (prompt === undefined || output === undefined) return undefined;
  const cached =
    countOf(memberOf(value.prompt_tokens_details, 'cached_tokens')) ?? countOf(value.prompt_cache_hit_tokens);
  const reasoning = countOf(memberOf(value.completion_tokens_details, 'reasoning_tokens'));
  return {
    inputTokens: Math.max(0, prompt - (cached ?? 0)),
    outputTokens: output,
    ...(cached !== undefined && { cacheReadTokens: cached }),
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
  };
}

/** The object that `text` is the JSON of, else undefined. */
export function parsePayload(text: string): Payload | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function memberOf(value: unknown, key: string): unknown {
  return isObject(value) ? value[key] : undefined;
}

function countOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
}

/** `value`, or the empty text. */
export function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
