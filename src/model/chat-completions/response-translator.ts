import { randomUUID } from 'node:crypto';
import { headOf, isObject } from '../../base/index.js';
import type { ContentBlock, FinishReason, LlmFailure, StreamChunk, TokenUsage } from '../../protocol/index.js';
import { factsOfReportedError } from '../http-failure.js';
import { excerptOf, providerErrorOf, reportsError } from './http-error.js';
import {
  argumentsOf,
  type CallFragment,
  idOf,
  isJson,
  type Payload,
  parsePayload,
  stringOf,
  textOf,
  usageOf,
} from './payload.js';
import type { ChatQuirks } from './quirks.js';

type OpenBlock = { readonly type: 'text' | 'reasoning'; readonly index: number; text: string } | OpenCall;
/** `wireId`: the id that the stream gave, empty until it gave one. */
interface OpenCall {
  readonly type: 'tool-call';
  readonly index: number;
  wireId: string;
  id: string;
  name: string;
  arguments: string;
}
type TextType = 'text' | 'reasoning';

/** The quirks that a stream is read by. */
export type ResponseQuirks = Pick<ChatQuirks, 'name' | 'needsDone' | 'reasoningFields' | 'inventCallIds'>;

/**
 * Turns the data of a completion's server-sent events into stream chunks (core §5.5). Block-ends, usage and finish wait
 * for `[DONE]`; a broken stream ends in a `finish` of kind `error` with its blocks left open.
 */
export class ResponseTranslator {
  readonly #quirks: ResponseQuirks;
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
  constructor(quirks: ResponseQuirks, hide: (text: string) => string = (text) => text) {
    this.#quirks = quirks;
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
    const payload = parsePayload(data);
    if (payload === undefined) this.#malformed(this.#hide(data));
    else if (reportsError(payload)) this.#refused(parsePayload(this.#hide(data)));
    else this.#read(payload);
  }

  /** The stream ended. Without `[DONE]` before it, it was cut, unless the provider leaves that out. */
  end(): void {
    if (this.#finished) return;
    if (!this.#quirks.needsDone && this.#finishReason !== undefined) {
      this.#complete();
      return;
    }
    const message = `the ${this.#quirks.name} API closed the stream before it was complete`;
    this.fail({ code: 'STREAM_CLOSED', message });
  }

  /** Ends the answer with a failure, unless it has ended. */
  fail(failure: LlmFailure): void {
    if (!this.#finished) this.#finish({ kind: 'error', failure });
  }

  #malformed(data: string): void {
    const message = `the ${this.#quirks.name} API sent data that is no JSON object: ${excerptOf(data)}`;
    this.fail({ code: 'MALFORMED_RESPONSE', message });
  }

  #refused(payload: Payload | undefined): void {
    const error = providerErrorOf(payload);
    const message = error.message ?? `the ${this.#quirks.name} API reported an error in its stream`;
    this.fail({ ...factsOfReportedError(error, 500), message });
  }

  #read(payload: Payload): void {
    this.#usage = usageOf(payload.usage) ?? this.#usage;
    if (!Array.isArray(payload.choices)) return;
    for (const choice of payload.choices) {
      // One answer was asked for; some gateways give alternatives all the same.
      if (!isObject(choice) || (typeof choice.index === 'number' && choice.index > 0)) continue;
      const delta = choice.delta ?? choice.message;
      if (isObject(delta)) this.#readDelta(delta);
      if (typeof choice.finish_reason === 'string') this.#finishReason = choice.finish_reason;
    }
  }

  #readDelta(delta: { readonly [key: string]: unknown }): void {
    const reasoning = this.#quirks.reasoningFields.find((field) => textOf(delta[field]) !== '');
    if (reasoning !== undefined) this.#readText('reasoning', textOf(delta[reasoning]));
    this.#readText('text', textOf(delta.content));
    if (!Array.isArray(delta.tool_calls)) return;
    for (const fragment of delta.tool_calls) if (isObject(fragment)) this.#readCall(fragment);
  }

  #readText(type: TextType, text: string): void {
    if (text === '') return;
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
    const id = idOf(fragment.id);
    const name = stringOf(fragment.function?.name);
    const argumentsDelta = argumentsOf(fragment.function?.arguments);
    const call = this.#callOf(fragment.index, id, name);
    this.#lastCall = call;
    if (call.wireId === '' && id !== '') {
      call.wireId = id;
      call.id = id;
    }
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

  #callOf(wireIndex: unknown, id: string, name: string): OpenCall {
    const isIndexed = typeof wireIndex === 'number';
    const known = isIndexed ? this.#callsByWireIndex.get(wireIndex) : this.#lastCall;
    const isOther = known === undefined || (isIndexed ? beginsAnew(known, id, name) : isOtherThan(known, id, name));
    const call = isOther ? this.#openCall() : known;
    if (isIndexed) this.#callsByWireIndex.set(wireIndex, call);
    return call;
  }

  #openCall(): OpenCall {
    const index = this.#blocks.length;
    const id = this.#quirks.inventCallIds ? `call_${randomUUID()}` : '';
    const call: OpenCall = { type: 'tool-call', index, wireId: '', id, name: '', arguments: '' };
    this.#open(call);
    return call;
  }

  #open(block: OpenBlock): void {
    this.#blocks.push(block);
    this.#out.push({ type: 'block-start', index: block.index, blockType: block.type });
  }

  #complete(): void {
    const reason = this.#reason();
    for (const block of this.#blocks) {
      this.#out.push({ type: 'block-end', index: block.index, block: closed(block) });
    }
    if (this.#usage !== undefined) this.#out.push({ type: 'usage', usage: this.#usage });
    this.#finish(reason);
  }

  #reason(): FinishReason {
    const reason = this.#finishReason ?? 'stop';
    const called = this.#lastCall !== undefined;
    if (reason === 'tool_calls') return { kind: 'tool-calls' };
    if (reason === 'length') return { kind: 'max-tokens' };
    if (called && (reason === 'stop' || reason === 'function_call')) return { kind: 'tool-calls' };
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

/**
 * A fragment for a call that is another one: some servers give every call the index 0. It has another id and a name, or
 * no id and a name although the call before is whole.
 */
function beginsAnew(known: OpenCall, id: string, name: string): boolean {
  if (name === '') return false;
  if (id !== '') return known.wireId !== '' && known.wireId !== id;
  return known.name !== '' && isJson(known.arguments);
}

/**
 * Without an index, another id begins a call of its own; without an id, another name does, or the same one once the
 * call before is whole: some servers repeat the name in every fragment.
 */
function isOtherThan(last: OpenCall, id: string, name: string): boolean {
  if (id !== '') return last.wireId !== '' && last.wireId !== id;
  if (name === '' || last.name === '') return false;
  return name !== last.name || isJson(last.arguments);
}

function closed(block: OpenBlock): ContentBlock {
  if (block.type !== 'tool-call') return { type: block.type, text: block.text };
  return { type: 'tool-call', id: block.id, name: block.name, arguments: block.arguments };
}
