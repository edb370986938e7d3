import type { AttachmentStore } from '../../attachment/index.js';
import { packageInfo } from '../../base/index.js';
import type { JsonObject, StreamChunk } from '../../protocol/index.js';
import type { ModelRequest } from '../adapter.js';
import { LlmError } from '../errors.js';
import { BodyExcerpt } from './body-excerpt.js';
import type { ChatRoute } from './chat-route.js';
import { HttpClient, httpModule } from './http-client.js';
import { answerError, checkEncoding, httpError } from './http-error.js';
import type { HttpExchange, ResponseHead } from './http-exchange.js';
import { type ImageLimits, judgeImages, offloadImages, readImages } from './images.js';
import type { ChatQuirks } from './quirks.js';
import { writeRequestBody } from './request-body.js';
import { type ResponseQuirks, ResponseTranslator } from './response-translator.js';
import { SseReader } from './sse-reader.js';

/** Milliseconds that the body of an error may be silent, and take in all: its status is known already. */
const ERROR_BODY_IDLE_MS = 2_000;
const ERROR_BODY_MS = 5_000;

/** What all calls of an adapter have in common. */
export interface ChatClientOptions {
  /** The provider, as messages name it. */
  readonly name: string;
  readonly limits: ImageLimits & {
    readonly connectTimeoutMs: number;
    readonly streamIdleTimeoutMs: number;
  };
  readonly attachments: AttachmentStore | undefined;
}

/** One request to one model of one provider. */
export interface ChatCall {
  readonly request: ModelRequest;
  readonly quirks: ChatQuirks;
  /** Members of the body that ask for the request's effort. */
  readonly effortFields: JsonObject;
  readonly readsImages: boolean;
  readonly imageDetail?: string;
  /** Where to post, and with which credentials; asked when the content is known to be sendable. May throw LlmError. */
  readonly route: () => ChatRoute;
}

/** Chat completions over streaming HTTP (core §5.4–5.7), for any provider. Owns its connections until `close()`. */
export class ChatClient {
  readonly #options: ChatClientOptions;
  readonly #http: HttpClient;

  constructor(options: ChatClientOptions) {
    this.#options = options;
    this.#http = new HttpClient(options.name);
  }

  /** Loads what calls to `url` are made with. */
  warm(url: URL): void {
    httpModule(url);
  }

  /** Ends what runs, with `TRANSPORT`; idempotent. */
  close(): void {
    this.#http.close();
  }

  /**
   * One batch of chunks a read, as {@link PreparedCall.stream} wants them. Never asks twice by itself, but for a kept
   * connection that turns out dead.
   *
   * @throws LlmError with a code of core §5.6 and 5.7, `UNSUPPORTED_CONTENT`, and what `call.route` throws
   * @throws CodedError of an attachment that cannot be read
   */
  async *stream(call: ChatCall): AsyncGenerator<readonly StreamChunk[]> {
    const { name, limits } = this.#options;
    const { quirks, request } = call;
    const json = await this.#bodyOf(call);
    const { url, base, headers, secrets } = call.route();
    const sent = { 'user-agent': `dsh-inversify/${packageInfo().version}`, ...headers, ...FIXED_HEADERS };
    const exchange = await this.#http.post(url, sent, json, {
      signal: request.signal,
      idleTimeoutMs: limits.streamIdleTimeoutMs,
      connectTimeoutMs: limits.connectTimeoutMs,
      base,
    });
    try {
      const head = await exchange.head();
      const hide = (text: string) => secrets.reduce((shown, secret) => shown.replaceAll(secret, '[redacted]'), text);
      const isOk = head.status >= 200 && head.status < 300;
      const body = new BodyExcerpt();
      if (isOk && (yield* translate(exchange, head, body, quirks, hide))) return;
      await readErrorBody(exchange, body, request.signal);
      const answer = { ...head, base, name, body: hide(body.text) };
      throw isOk ? answerError(answer) : httpError(answer);
    } finally {
      exchange.close();
    }
  }

  async #bodyOf({ request, quirks, effortFields, readsImages, imageDetail }: ChatCall): Promise<string> {
    const { name, limits, attachments } = this.#options;
    judgeImages(request.messages, `${name} model "${request.config.model}"`, readsImages);
    const messages = offloadImages(request.messages, limits);
    const images = await readImages(messages, attachments);
    const detail = imageDetail === undefined ? {} : { imageDetail };
    return writeRequestBody({ ...request, messages }, { quirks, effortFields, images, ...detail });
  }
}

/** What the reader of the answer relies on. */
const FIXED_HEADERS = {
  'content-type': 'application/json',
  accept: 'text/event-stream',
  'accept-encoding': 'identity',
};

/**
 * @returns false if the body is no event stream; `start` then holds what was read of it
 */
async function* translate(
  exchange: HttpExchange,
  { headers }: ResponseHead,
  start: BodyExcerpt,
  quirks: ResponseQuirks,
  hide: (text: string) => string,
): AsyncGenerator<readonly StreamChunk[], boolean> {
  const { name } = quirks;
  checkEncoding(headers, name);
  const isDeclared = /^\s*text\/event-stream\b/i.test(headers['content-type'] ?? '');
  const translator = new ResponseTranslator(quirks, hide);
  let hasEvents = false;
  const reader = new SseReader(
    (data) => {
      hasEvents = true;
      translator.push(data);
    },
    () => translator.fail({ code: 'MALFORMED_RESPONSE', message: `the ${name} API sent an event without an end` }),
  );
  let pieces = await exchange.read();
  if (pieces === undefined) {
    throw new LlmError({ code: 'EMPTY_RESPONSE', message: `${name} API returned no response body` });
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
