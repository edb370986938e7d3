import { headOf } from '../../base/index.js';
import type { ContentBlock, FinishReason, LlmFailure, StreamChunk, TokenUsage } from '../../protocol/index.js';
import { codeOfReportedError } from '../http-failure.js';
import { excerptOf, providerErrorOf } from './http-error.js';

type OpenBlock =
  | { readonly type: 'text' | 'reasoning'; readonly index: number; text: string }
  | { readonly type: 'tool-call'; readonly index: number; id: string; name: string; arguments: string };
type TextType = 'text' | 'reasoning';
type OpenCall = Extract<OpenBlock, { type: 'tool-call' }>;

/** One payload of the stream, as far as it is read; nothing in it can be relied on. */
interface Payload {
  readonly error?: unknown;
  readonly usage?: unknown;
  readonly choices?: unknown;
}
interface CallFragment {
  readonly index?: unknown;
  readonly id?: unknown;
  readonly function?: { readonly name?: unknown; readonly arguments?: unknown } | null;
}

/**
 * Turns the data of DeepSeek's server-sent events into stream chunks (core §5.5). Block-ends, usage and finish wait
 * for `[DONE]`; a broken stream ends in a `finish` of kind `error` with its blocks left open.
 */
export class ResponseTranslator {
  readonly #hide: (text: string) => string;
  readonly #blocks: OpenBlock[] = [];
  readonly #text = new Map<TextType, Extract<OpenBlock, { type: TextType }>>();
  readonly #callsByWireIndex = new Map<number, OpenCall>();
  #lastCall: OpenCall | undefined;
  #usage: TokenUsage | undefined;
  #finishReason: string | undefined;
  #finished = false;
  #out: StreamChunk[] = [];

  /** @param hide takes secrets out of what is quoted */
  constructor(hide: (text: string) => string = (text) => text) {
    this.#hide = hide;
  }

  /** True once the `finish` is out; what comes later is ignored. */
  get finished(): boolean {
    return this.#finished;
  }

  /** The chunks since the last call. */
  take(): readonly StreamChunk[] {
    const taken = this.#out;
    this.#out = [];
    return taken;
  }

  /** The data of one event. */
  push(data: string): void {
    // Some gateways wrap their keep-alive comments once more, as data.
    if (this.#finished || data.startsWith(':')) return;
    if (data === '[DONE]') {
      this.#complete();
      return;
    }
    const payload = parseObject(data);
    if (payload === undefined) this.#malformed(this.#hide(data));
    else if (payload.error !== undefined && payload.error !== null) this.#refused(parseObject(this.#hide(data)));
    else this.#read(payload);
  }

  /** The stream ended; without `[DONE]` before it, it was cut. */
  end(): void {
    this.fail({ code: 'STREAM_CLOSED', message: 'the DeepSeek API closed the stream before it was complete' });
  }

  /** Ends the answer with a failure, unless it has ended. */
  fail(failure: LlmFailure): void {
    if (!this.#finished) this.#finish({ kind: 'error', failure });
  }

  #malformed(data: string): void {
    const message = `the DeepSeek API sent data that is no JSON object: ${excerptOf(data)}`;
    this.fail({ code: 'MALFORMED_RESPONSE', message });
  }

  #refused(payload: Payload | undefined): void {
    const error = providerErrorOf(payload);
    const message = error.message ?? 'the DeepSeek API reported an error in its stream';
    this.fail({ code: codeOfReportedError(error, 500), message });
  }

  #read(payload: Payload): void {
    this.#usage = usageOf(payload.usage) ?? this.#usage;
    if (!Array.isArray(payload.choices)) return;
    for (const choice of payload.choices) {
      if (!isObject(choice)) continue;
      if (isObject(choice.delta)) this.#readDelta(choice.delta);
      if (typeof choice.finish_reason === 'string') this.#finishReason = choice.finish_reason;
    }
  }

  #readDelta(delta: { readonly [key: string]: unknown }): void {
    this.#readText('reasoning', delta.reasoning_content);
    this.#readText('text', delta.content);
    if (!Array.isArray(delta.tool_calls)) return;
    for (const fragment of delta.tool_calls) if (isObject(fragment)) this.#readCall(fragment);
  }

  #readText(type: TextType, text: unknown): void {
    if (typeof text !== 'string' || text === '') return;
    let block = this.#text.get(type);
    if (block === undefined) {
      block = { type, index: this.#blocks.length, text: '' };
      this.#text.set(type, block);
      this.#open(block);
    }
    block.text += text;
    this.#out.push({ type: type === 'text' ? 'text-delta' : 'reasoning-delta', index: block.index, text });
  }

  #readCall(fragment: CallFragment): void {
    const id = stringOf(fragment.id);
    const name = stringOf(fragment.function?.name);
    const argumentsDelta = stringOf(fragment.function?.arguments);
    const call = this.#callOf(fragment.index, id, name);
    this.#lastCall = call;
    if (id !== '') call.id = id;
    if (name !== '') call.name = name;
    call.arguments += argumentsDelta;
    this.#out.push({
      type: 'tool-call-delta',
      index: call.index,
      id: call.id,
      ...(name !== '' && { name }),
      argumentsDelta,
    });
  }

  /** Without a wire index, a fragment that brings another id, or another name, begins a call of its own. */
  #callOf(wireIndex: unknown, id: string, name: string): OpenCall {
    if (typeof wireIndex === 'number') {
      const call = this.#callsByWireIndex.get(wireIndex) ?? this.#openCall();
      this.#callsByWireIndex.set(wireIndex, call);
      return call;
    }
    const last = this.#lastCall;
    const isOther = id === '' ? name !== '' && last?.name !== '' : last?.id !== '' && last?.id !== id;
    return last === undefined || isOther ? this.#openCall() : last;
  }

  #openCall(): OpenCall {
    const call: OpenCall = { type: 'tool-call', index: this.#blocks.length, id: '', name: '', arguments: '' };
    this.#open(call);
    return call;
  }

  #open(block: OpenBlock): void {
    this.#blocks.push(block);
    this.#out.push({ type: 'block-start', index: block.index, blockType: block.type });
  }

  #complete(): void {
    const reason = this.#reason();
    for (const { index, ...block } of this.#blocks) {
      this.#out.push({ type: 'block-end', index, block: block as ContentBlock });
    }
    if (this.#usage !== undefined) this.#out.push({ type: 'usage', usage: this.#usage });
    this.#finish(reason);
  }

  #reason(): FinishReason {
    const reason = this.#finishReason ?? 'stop';
    if (reason === 'tool_calls') return { kind: 'tool-calls' };
    if (reason === 'length') return { kind: 'max-tokens' };
    if (reason !== 'stop') {
      const value = headOf(reason, 120);
      return { kind: 'error', failure: { code: value.toUpperCase(), message: `model stopped: ${value}` } };
    }
    if (this.#blocks.length > 0) return { kind: 'stop' };
    const message = 'model returned a completed response with no content';
    return { kind: 'error', failure: { code: 'EMPTY_RESPONSE', message } };
  }

  #finish(reason: FinishReason): void {
    this.#finished = true;
    this.#out.push({ type: 'finish', reason });
  }
}

function usageOf(value: unknown): TokenUsage | undefined {
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

function parseObject(text: string): Payload | undefined {
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

function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
