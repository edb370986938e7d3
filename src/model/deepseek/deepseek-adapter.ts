import { packageInfo } from '../../base/index.js';
import type { Scope, Startable } from '../../kernel/index.js';
import type { CallConfig, StreamChunk } from '../../protocol/index.js';
import type { ModelAdapter, ModelInfo, ModelRequest, PreparedCall, ProviderInfo } from '../adapter.js';
import { LlmError } from '../errors.js';
import { checkReasoningEffort, REASONING_EFFORTS } from '../reasoning-effort.js';
import { BodyExcerpt } from './body-excerpt.js';
import { type DeepSeekConfigDto, isHttpUrl } from './deepseek-config.js';
import { HttpClient, httpModule } from './http-client.js';
import { answerError, checkEncoding, httpError } from './http-error.js';
import type { HttpExchange, ResponseHead } from './http-exchange.js';
import { writeRequestBody } from './request-body.js';
import { ResponseTranslator } from './response-translator.js';
import { SseReader } from './sse-reader.js';

/** Provider id of the DeepSeek API (core §5.3), as `initialize` names it. */
export const DEEPSEEK_PROVIDER = 'deepseek-official';

/** Milliseconds that the body of an error may be silent, and take in all: its status is known already. */
const ERROR_BODY_IDLE_MS = 2_000;
const ERROR_BODY_MS = 5_000;

/** DeepSeek's chat completions over streaming HTTP (core §5.2–5.7). Key and endpoint are read anew for each call. */
export class DeepSeekAdapter implements ModelAdapter, Startable {
  readonly name = 'DeepSeek';
  readonly providers: readonly ProviderInfo[] = [{ id: DEEPSEEK_PROVIDER, name: 'DeepSeek', catalog: 'advisory' }];
  readonly #config: DeepSeekConfigDto;
  readonly #efforts: readonly string[];
  readonly #models: readonly ModelInfo[];
  readonly #http = new HttpClient();

  constructor(config: DeepSeekConfigDto, scope: Scope) {
    this.#config = config;
    this.#efforts = config.thinking === 'disabled' ? ['off'] : REASONING_EFFORTS;
    this.#models = config.models.map((model) => ({
      ...model,
      inputModalities: model.inputModalities ?? ['text'],
      contextWindow: model.contextWindow ?? config.defaultContextWindow,
      maxTokens: model.maxTokens ?? config.maxTokens,
      reasoningEfforts: this.#efforts,
    }));
    scope.defer('DeepSeek connections', () => this.#http.close());
  }

  /** Loads what calls are made with. */
  warm(): void {
    httpModule(endpointOf(this.#config.baseURL).url);
  }

  models(): readonly ModelInfo[] {
    return this.#models;
  }

  prepare(asked: CallConfig): PreparedCall {
    const { reasoningEffort, maxTokens } = asked;
    checkReasoningEffort(reasoningEffort, this.#efforts);
    const model = this.#models.find((info) => info.id === asked.model);
    const config: CallConfig = {
      ...asked,
      reasoningEffort: reasoningEffort ?? this.#defaultEffort(),
      maxTokens: maxTokens ?? model?.maxTokens ?? this.#config.maxTokens,
    };
    return {
      config,
      adapterDefaults: {
        ...(reasoningEffort === undefined && { reasoningEffort: true }),
        ...(maxTokens === undefined && { maxTokens: true }),
      },
      contextWindow: model?.contextWindow ?? this.#config.defaultContextWindow,
      stream: (request) => this.#stream({ ...request, config }),
    };
  }

  #defaultEffort(): string {
    return this.#config.reasoningEffort ?? (this.#config.thinking === 'disabled' ? 'off' : 'high');
  }

  async *#stream(request: ModelRequest): AsyncGenerator<readonly StreamChunk[]> {
    const body = writeRequestBody(request, this.#config.thinking);
    const key = apiKeyOf(this.#config.apiKeyEnv);
    const { url, base } = endpointOf(this.#config.baseURL);
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'text/event-stream',
      'accept-encoding': 'identity',
      'user-agent': `dsh-inversify/${packageInfo().version}`,
    };
    const { signal } = request;
    const exchange = this.#http.post(url, headers, body, {
      signal,
      idleTimeoutMs: this.#config.streamIdleTimeoutMs,
      base,
    });
    try {
      const head = await exchange.head();
      const hide = (text: string) => text.replaceAll(key, '[redacted]');
      const isOk = head.status >= 200 && head.status < 300;
      const body = new BodyExcerpt();
      if (isOk && (yield* translate(exchange, head, body, hide))) return;
      await readErrorBody(exchange, body, signal);
      const answer = { ...head, base, body: hide(body.text) };
      throw isOk ? answerError(answer) : httpError(answer);
    } finally {
      exchange.close();
    }
  }
}

/**
 * One batch of chunks a read.
 *
 * @returns false if the body is no event stream; `start` then holds what was read of it
 */
async function* translate(
  exchange: HttpExchange,
  { headers }: ResponseHead,
  start: BodyExcerpt,
  hide: (text: string) => string,
): AsyncGenerator<readonly StreamChunk[], boolean> {
  checkEncoding(headers);
  const isDeclared = /^\s*text\/event-stream\b/i.test(headers['content-type'] ?? '');
  const translator = new ResponseTranslator(hide);
  let hasEvents = false;
  const reader = new SseReader(
    (data) => {
      hasEvents = true;
      translator.push(data);
    },
    () => translator.fail({ code: 'MALFORMED_RESPONSE', message: 'the DeepSeek API sent an event without an end' }),
  );
  let pieces = await exchange.read();
  if (pieces === undefined) {
    throw new LlmError({ code: 'EMPTY_RESPONSE', message: 'DeepSeek API returned no response body' });
  }
  for (; pieces !== undefined; pieces = await exchange.read()) {
    for (const bytes of pieces) reader.feed(bytes);
    if (!hasEvents) {
      start.add(pieces);
      if (!isDeclared && start.isDocument) return false;
    }
    if (translator.finished) exchange.release();
    const chunks = translator.take();
    if (chunks.length > 0) yield chunks;
    if (translator.finished) return true;
  }
  if (!hasEvents && (start.isDocument || !(isDeclared || start.isEventStream))) return false;
  translator.end();
  yield translator.take();
  return true;
}

/** Adds as much as matters and comes soon; a connection that breaks meanwhile does not hide the status. */
async function readErrorBody(exchange: HttpExchange, body: BodyExcerpt, signal: AbortSignal): Promise<void> {
  exchange.hurry(ERROR_BODY_IDLE_MS, ERROR_BODY_MS);
  try {
    while (!body.isFull) {
      const pieces = await exchange.read();
      if (pieces === undefined) return;
      body.add(pieces);
    }
  } catch (thrown) {
    if (signal.aborted) throw thrown;
  }
}

/** @throws LlmError `MISSING_CREDENTIAL`, `INVALID_CREDENTIAL`; never with the value in it */
function apiKeyOf(variable: string): string {
  const key = process.env[variable]?.trim() ?? '';
  if (key === '') {
    throw new LlmError({
      code: 'MISSING_CREDENTIAL',
      message: `no DeepSeek API key: set the environment variable ${variable}, or use the provider "offline"`,
    });
  }
  if (/[^\x20-\x7e]/.test(key)) {
    throw new LlmError({
      code: 'INVALID_CREDENTIAL',
      message: `the environment variable ${variable} holds characters that no HTTP header can carry`,
    });
  }
  return key;
}

/** Where to post to, and how messages name it: without credentials or query. */
function endpointOf(configured: string | undefined): { readonly url: URL; readonly base: string } {
  const text = configured ?? (process.env.DEEPSEEK_BASE_URL?.trim() || 'https://api.deepseek.com');
  const base = text.replace(/\/+$/, '');
  if (!isHttpUrl(base)) {
    const source = configured === undefined ? 'the environment variable DEEPSEEK_BASE_URL' : 'the baseURL of its row';
    throw new LlmError({ code: 'INVALID_BASE_URL', message: `DeepSeek needs an http or https URL in ${source}` });
  }
  const url = new URL(`${base}/chat/completions`);
  return { url, base: `${url.origin}${url.pathname.replace(/\/chat\/completions$/, '')}` };
}
