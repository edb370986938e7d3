import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { Deferred } from '../../src/base/index.js';
import type { TestCertificate } from './test-certificate.js';

/** One answer of the server. The default is an empty stream that ends in `stop`. */
export interface ServerAnswer {
  /** Streamed as `reasoning_content`, `content` and `tool_calls`, in this order. */
  readonly reasoning?: string;
  readonly text?: string;
  readonly toolCalls?: readonly { readonly id?: string; readonly name: string; readonly arguments: string | object }[];
  /** Code points a delta; default: one delta each. */
  readonly chunkSize?: number;
  /** Default: `tool_calls` when there are some, else `stop`. */
  readonly finishReason?: string;
  /** As the API spells it, e.g. `{prompt_tokens: 10, completion_tokens: 2}`. */
  readonly usage?: object;

  /**
   * The body as it stands, in place of the above: each piece is a write of its own, and a promise among them holds
   * the stream until it settles. Iterated as it is written.
   */
  readonly raw?: Iterable<string | Uint8Array | Promise<unknown>>;

  /** The bytes of the whole answer, its head too, in place of all else; may be none. Default ending: `cut`. */
  readonly wire?: string;

  /** Default 200; with anything else `body` is the whole answer. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | object;

  /** Awaited before the head is sent. */
  readonly hold?: Promise<unknown>;
  /**
   * What happens after the last piece: the body ends; nothing more comes; the connection ends without the body's end;
   * or it is reset, which may overtake bytes on their way.
   */
  readonly ending?: 'end' | 'stall' | 'cut' | 'reset';
}

/** One request as it arrived. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The parsed JSON body. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it freely
  readonly body: any;
  /** Fulfils when the answer is out or its connection is gone; `byClient` when the client went first. */
  readonly closed: Promise<{ readonly byClient: boolean }>;
}

/**
 * A local server that speaks DeepSeek's streaming API. Requests take the queued answers in order of arrival; when
 * there is none, {@link respond} is asked, and without it the request fails with status 500.
 *
 * ```ts
 * const server = await DeepSeekServer.start({ text: 'hello' });
 * // DEEPSEEK_BASE_URL=server.url, any DEEPSEEK_API_KEY
 * await server.stop();
 * ```
 */
export class DeepSeekServer {
  readonly requests: RecordedRequest[] = [];
  /** Makes answers for requests that find the queue empty: for sessions whose order is open. */
  respond: ((request: RecordedRequest) => ServerAnswer) | undefined;
  readonly #answers: ServerAnswer[];
  readonly #server: Server;
  readonly #isTls: boolean;
  readonly #waiting = new Set<() => void>();
  #connections = 0;
  #opened = 0;

  private constructor(answers: ServerAnswer[], tls?: TestCertificate) {
    this.#answers = answers;
    const serve = (request: IncomingMessage, response: ServerResponse): void => {
      this.#serve(request, response).catch(() => response.destroy());
    };
    this.#isTls = tls !== undefined;
    this.#server = tls === undefined ? createServer(serve) : createTlsServer(tls, serve);
    this.#server.on('connection', (socket) => {
      this.#connections += 1;
      this.#opened += 1;
      socket.setNoDelay(true);
      socket.once('close', () => {
        this.#connections -= 1;
        this.#changed();
      });
    });
  }

  /** Listens on a free port of the loopback interface. */
  static start(...answers: readonly ServerAnswer[]): Promise<DeepSeekServer> {
    return DeepSeekServer.#listen(new DeepSeekServer([...answers]));
  }

  /** As `start()`, over TLS. */
  static startTls(tls: TestCertificate): Promise<DeepSeekServer> {
    return DeepSeekServer.#listen(new DeepSeekServer([], tls));
  }

  static async #listen(server: DeepSeekServer): Promise<DeepSeekServer> {
    await new Promise<void>((resolve, reject) => {
      server.#server.once('error', reject);
      server.#server.listen(0, '127.0.0.1', resolve);
    });
    return server;
  }

  /** The base URL, without a path. */
  get url(): string {
    return `${this.#isTls ? 'https' : 'http'}://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Connections that were opened so far. */
  get opened(): number {
    return this.#opened;
  }

  /** Connections that are open now. */
  get connections(): number {
    return this.#connections;
  }

  /** Queues more answers. */
  answer(...answers: readonly ServerAnswer[]): void {
    this.#answers.push(...answers);
  }

  /** The nth request, from 0, once it has arrived. */
  async request(index: number): Promise<RecordedRequest> {
    await this.#until(() => this.requests.length > index);
    return this.requests[index] as RecordedRequest;
  }

  /** Fulfils when no connection is open. */
  async disconnected(): Promise<void> {
    await this.#until(() => this.#connections === 0);
  }

  /** Closes every connection, whatever it waits for. Idempotent. */
  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  #changed(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const closed = new Deferred<{ readonly byClient: boolean }>();
    let ours = false;
    response.once('close', () => closed.resolve({ byClient: !response.writableEnded && !ours }));
    const text = Buffer.concat(await request.toArray()).toString();
    const recorded: RecordedRequest = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: parse(text),
      closed: closed.promise,
    };
    this.requests.push(recorded);
    this.#changed();
    const answer = this.#answers.shift() ?? this.respond?.(recorded) ?? NO_ANSWER;
    await answer.hold;
    if (answer.wire === undefined) await write(answer, response);
    else request.socket.write(answer.wire);
    const ending = answer.ending ?? (answer.wire === undefined ? 'end' : 'cut');
    ours = ending === 'reset' || ending === 'cut';
    if (ending === 'reset') request.socket.resetAndDestroy();
    else if (ending === 'cut') request.socket.end();
    else if (ending === 'end') response.end();
  }
}

/** One server-sent event with a JSON payload. */
export function sse(payload: unknown): string {
  return `data: ${JSON.stringify(payload)}\n\n`;
}

/** An event that carries one delta, e.g. `delta({ content: 'hi' })`. */
export function delta(fields: object, finishReason: string | null = null): string {
  return sse({ choices: [{ index: 0, delta: fields, finish_reason: finishReason }] });
}

/** The event that ends a stream. */
export const DONE = 'data: [DONE]\n\n';

/** The events of an answer, as the server sends them. */
export function eventsOf(answer: ServerAnswer): string[] {
  const { reasoning = '', text = '', toolCalls = [], chunkSize } = answer;
  const finishReason = answer.finishReason ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop');
  return [
    delta({ role: 'assistant', content: '' }),
    ...cut(reasoning, chunkSize).map((piece) => delta({ reasoning_content: piece })),
    ...cut(text, chunkSize).map((piece) => delta({ content: piece })),
    ...toolCalls.flatMap((call, index) => callEvents(call, index, chunkSize)),
    delta({}, finishReason),
    ...(answer.usage === undefined ? [] : [sse({ choices: [], usage: answer.usage })]),
    DONE,
  ];
}

const NO_ANSWER: ServerAnswer = {
  status: 500,
  body: { error: { message: 'the test queued no answer for this request' } },
};

async function write(answer: ServerAnswer, response: ServerResponse): Promise<void> {
  const { status = 200, body } = answer;
  if (status !== 200) {
    response.writeHead(status, answer.headers);
    response.write(typeof body === 'object' ? JSON.stringify(body) : (body ?? ''));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', ...answer.headers });
  response.flushHeaders();
  for (const piece of answer.raw ?? eventsOf(answer)) {
    if (piece instanceof Promise) await piece;
    else if (piece.length > 0) response.write(piece);
    // A cut that is meant to be seen has to leave as a packet of its own.
    if (answer.raw !== undefined) await setImmediate();
  }
}

function callEvents(
  call: { readonly id?: string; readonly name: string; readonly arguments: string | object },
  index: number,
  chunkSize: number | undefined,
): string[] {
  const text = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments);
  const head = {
    index,
    id: call.id ?? `call_${index}`,
    type: 'function',
    function: { name: call.name, arguments: '' },
  };
  return [
    delta({ tool_calls: [head] }),
    ...cut(text, chunkSize).map((piece) => delta({ tool_calls: [{ index, function: { arguments: piece } }] })),
  ];
}

function cut(text: string, chunkSize = Number.POSITIVE_INFINITY): string[] {
  const points = Array.from(text);
  const pieces: string[] = [];
  for (let at = 0; at < points.length; at += chunkSize) pieces.push(points.slice(at, at + chunkSize).join(''));
  return pieces;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
