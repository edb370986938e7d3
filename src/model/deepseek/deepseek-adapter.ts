import { packageInfo } from '../../base/index.js';
import type { Scope, Startable } from '../../kernel/index.js';
import type { CallConfig, StreamChunk } from '../../protocol/index.js';
import type { ModelAdapter, ModelInfo, ModelRequest, PreparedCall, ProviderInfo } from '../adapter.js';
import { LlmError } from '../errors.js';
import { type DeepSeekConfigDto, isHttpUrl, REASONING_EFFORTS } from './deepseek-config.js';
import { HttpClient, httpModule } from './http-client.js';
import { httpError } from './http-error.js';
import type { HttpExchange } from './http-exchange.js';
import { buildRequestBody } from './request-body.js';
import { ResponseTranslator } from './response-translator.js';
import { SseReader } from './sse-reader.js';

export const DEEPSEEK_PROVIDER = 'deepseek-official';

const MAX_ERROR_BYTES = 64 * 1024;

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
    if (reasoningEffort !== undefined && !this.#efforts.includes(reasoningEffort)) {
      throw new LlmError({
        code: 'UNSUPPORTED_REASONING_EFFORT',
        message: `reasoning effort "${reasoningEffort}" is not supported, use one of: ${this.#efforts.join(', ')}`,
      });
    }
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
    const body = JSON.stringify(buildRequestBody(request, this.#config.thinking));
    const key = apiKeyOf(this.#config.apiKeyEnv);
    const { url, base } = endpointOf(this.#config.baseURL);
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'text/event-stream',
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
      if (head.status >= 200 && head.status < 300) {
        yield* translate(exchange);
        return;
      }
      const text = await errorBodyOf(exchange, signal);
      throw httpError({ ...head, body: text.replaceAll(key, '[redacted]') });
    } finally {
      exchange.close();
    }
  }
}

/** One batch of chunks a read. */
async function* translate(exchange: HttpExchange): AsyncGenerator<readonly StreamChunk[]> {
  const translator = new ResponseTranslator();
  const reader = new SseReader(
    (data) => translator.push(data),
    () => translator.fail({ code: 'MALFORMED_RESPONSE', message: 'the DeepSeek API sent an event without an end' }),
  );
  let pieces = await exchange.read();
  if (pieces === undefined) {
    throw new LlmError({ code: 'EMPTY_RESPONSE', message: 'DeepSeek API returned no response body' });
  }
  for (; pieces !== undefined; pieces = await exchange.read()) {
    for (const bytes of pieces) reader.feed(bytes);
    if (translator.finished) exchange.release();
    const chunks = translator.take();
    if (chunks.length > 0) yield chunks;
    if (translator.finished) return;
  }
  translator.end();
  yield translator.take();
}

/** As much of an error's body as matters; a connection that breaks inside it does not hide the status. */
async function errorBodyOf(exchange: HttpExchange, signal: AbortSignal): Promise<string> {
  const parts: Buffer[] = [];
  let length = 0;
  try {
    for (let pieces = await exchange.read(); pieces !== undefined; pieces = await exchange.read()) {
      parts.push(...pieces);
      length += pieces.reduce((sum, piece) => sum + piece.length, 0);
      if (length >= MAX_ERROR_BYTES) break;
    }
  } catch (thrown) {
    if (signal.aborted) throw thrown;
  }
  return Buffer.concat(parts).toString('utf8', 0, MAX_ERROR_BYTES);
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
