import { getEventListeners } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect } from 'chai';
import { Deferred } from '../../../src/base/index.js';
import type { StreamChunk } from '../../../src/protocol/index.js';
import { type DeepSeekServer, DONE, delta, eventsOf, type ServerAnswer } from '../../support/deepseek-server.js';
import { collect, finishOf, said } from '../../support/model-request.js';
import { useDeepSeek } from '../deepseek/deepseek-fixture.js';

function failureOf(chunks: readonly StreamChunk[]): { code: string; message: string } {
  const reason = finishOf(chunks) as { failure?: { code: string; message: string } };
  if (reason.failure === undefined) throw new Error(`it did not fail: ${JSON.stringify(reason)}`);
  return reason.failure;
}

describe('chat completions transport', () => {
  const deepseek = useDeepSeek();
  const { caller, call } = deepseek;
  let server: DeepSeekServer;
  beforeEach(() => {
    server = deepseek.server;
  });

  it('sends a long body whole, with its length', async () => {
    server.answer({ raw: eventsOf({ text: 'ok' }) });
    const text = '🔥台x'.repeat(300_000);
    await collect(
      call({}, { messages: [{ id: 'm', role: 'user', content: [{ type: 'text', text }], source: { kind: 'user' } }] }),
    );
    const { body, headers } = await server.request(0);
    expect(body.messages.at(-1).content === text).to.equal(true);
    expect(Number(headers['content-length'])).to.be.greaterThan(Buffer.byteLength(text));
    expect(headers).not.to.have.property('transfer-encoding');
  });

  describe('failures', () => {
    const statuses: readonly (readonly [status: number, code: string])[] = [
      [400, 'INVALID_REQUEST'],
      [401, 'AUTH'],
      [402, 'PAYMENT_REQUIRED'],
      [404, 'HTTP_404'],
      [422, 'UNPROCESSABLE'],
      [429, 'RATE_LIMIT'],
      [500, 'SERVER'],
      [503, 'SERVER'],
    ];
    for (const [status, code] of statuses) {
      it(`maps HTTP ${status}`, async () => {
        server.answer({
          status,
          headers: { 'retry-after': '2', 'x-request-id': 'r-1' },
          body: { error: { message: 'no' } },
        });
        expect(finishOf(await collect(call()))).to.deep.equal({
          kind: 'error',
          failure: { code, message: 'no', status, providerRetryAfterMs: 2000, requestId: 'r-1' },
        });
      });
    }

    it('keeps the connection of an error answer', async () => {
      const next = caller();
      server.answer({ status: 500, body: 'x' }, { text: 'ok' });
      await collect(next());
      await (await server.request(0)).closed;
      await collect(next());
      expect(server.opened).to.equal(1);
    });

    it('keeps the key out of what an error answer echoes', async () => {
      server.answer({ status: 401, body: { error: { message: 'the key sk-test is wrong' } } });
      expect(failureOf(await collect(call())).message).to.equal('the key [redacted] is wrong');
    });

    for (const raw of ['data: {"error":{"message":"sk-test is bad"}}\n\n', 'data: sk-test is bad\n\n']) {
      it(`keeps the key out of what a stream echoes: ${raw.trim()}`, async () => {
        server.answer({ raw: [raw] });
        expect(failureOf(await collect(call())).message).to.match(/\[redacted\] is bad$/);
      });
    }

    it('knows the status of an error answer that breaks off', async () => {
      server.answer({ status: 503, body: '{"error":', ending: 'cut' });
      expect(failureOf(await collect(call()))).to.deep.include({ code: 'SERVER', status: 503 });
    });

    for (const status of [500, 429, 302]) {
      it(`knows the status ${status} of an answer whose body stalls`, async () => {
        server.answer({ status, headers: { location: '/x' }, body: '{"error":{"message":"no"}}', ending: 'stall' });
        expect(failureOf(await collect(call()))).to.have.property('status', status);
        await server.disconnected();
      });
    }

    it('hears an abort while it reads the body of an error', async () => {
      const abort = new AbortController();
      server.answer({ status: 500, body: 'x', ending: 'stall' });
      const chunks = collect(call({}, { signal: abort.signal }));
      await server.request(0);
      abort.abort();
      expect(finishOf(await chunks)).to.have.property('kind', 'aborted');
      await server.disconnected();
    });

    it('follows no redirect', async () => {
      server.answer({ status: 307, headers: { location: `${server.url}/elsewhere` } }, { text: 'ok' });
      expect(failureOf(await collect(call())).message).to.include(`redirects to ${server.url} (HTTP 307)`);
      expect(server.requests).to.have.length(1);
    });

    for (const [what, upgrade] of [
      ['an upgrade', 'Connection: Upgrade\r\nUpgrade: websocket\r\n'],
      ['status 101 alone', ''],
    ] as const) {
      it(`fails at once on ${what}`, async () => {
        server.answer({ wire: `HTTP/1.1 101 Switching Protocols\r\n${upgrade}\r\n`, ending: 'stall' });
        expect(failureOf(await collect(call()))).to.deep.equal({
          code: 'HTTP_101',
          message: 'DeepSeek API error (HTTP 101)',
          status: 101,
        });
        await server.disconnected();
      });
    }

    it('waits past other interim answers', async () => {
      const body = eventsOf({ text: 'ok' }).join('');
      const interim = 'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n';
      server.answer({ wire: `${interim}HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n${body}` });
      expect(said(await collect(call()))).to.equal('ok');
    });

    it('reads no more of an error answer than it needs', async () => {
      server.answer({ status: 500, body: 'x'.repeat(200_000), ending: 'stall' });
      expect(failureOf(await collect(call()))).to.deep.include({ code: 'SERVER' });
      await server.disconnected();
    });

    it('names the base URL when nobody listens there', async () => {
      const free = createServer().listen(0, '127.0.0.1');
      await new Promise((resolve) => free.once('listening', resolve));
      const { port } = free.address() as AddressInfo;
      await new Promise((resolve) => free.close(resolve));
      const baseURL = `http://user:secret@127.0.0.1:${port}/v1/`;
      expect(failureOf(await collect(call({ baseURL })))).to.deep.equal({
        code: 'TRANSPORT',
        message: `DeepSeek API request to http://127.0.0.1:${port}/v1 failed: connect ECONNREFUSED 127.0.0.1:${port}`,
      });
    });

    it('tells a failed TLS handshake', async () => {
      const baseURL = server.url.replace('http:', 'https:');
      const { code, message } = failureOf(await collect(call({ baseURL })));
      expect(code).to.equal('TRANSPORT');
      expect(message)
        .to.match(/wrong version number/)
        .and.to.contain(`DeepSeek API request to ${baseURL} failed: `);
    });

    it('tells a reset before any of the body', async () => {
      server.answer({ raw: [], ending: 'reset' });
      expect(failureOf(await collect(call())).code).to.equal('TRANSPORT');
    });

    it('tells a body that breaks off', async () => {
      server.answer({ raw: [delta({ content: 'a' })], ending: 'cut' });
      const chunks = await collect(call());
      expect(said(chunks)).to.equal('a');
      expect(failureOf(chunks).code).to.equal('TRANSPORT');
    });

    it('tells a reset in the middle of the body, after what arrived', async () => {
      const sent = new Deferred<void>();
      server.answer({ raw: [delta({ content: 'a' }), sent.promise], ending: 'reset' });
      const chunks: StreamChunk[] = [];
      for await (const batch of call()) {
        chunks.push(...batch);
        sent.resolve();
      }
      expect(said(chunks)).to.equal('a');
      expect(failureOf(chunks)).to.deep.equal({
        code: 'TRANSPORT',
        message: `DeepSeek API stream from ${server.url} failed: read ECONNRESET`,
      });
    });

    it('tells a body that ends without [DONE] (H3)', async () => {
      server.answer({ raw: [delta({ content: 'a' })] });
      const chunks = await collect(call());
      expect(said(chunks)).to.equal('a');
      expect(failureOf(chunks).code).to.equal('STREAM_CLOSED');
    });

    it('tells a response without a body', async () => {
      server.answer({ raw: [] });
      expect(failureOf(await collect(call()))).to.deep.equal({
        code: 'EMPTY_RESPONSE',
        message: 'DeepSeek API returned no response body',
      });
    });

    it('gives up on a server that sends no head', async () => {
      server.answer({ hold: new Promise(() => undefined) });
      expect(failureOf(await collect(call({ streamIdleTimeoutMs: 50 })))).to.deep.equal({
        code: 'TIMEOUT',
        message: 'DeepSeek stream idle timeout after 50ms',
      });
      await server.disconnected();
    });

    it('gives up on a body that stalls', async () => {
      server.answer({ raw: [delta({ content: 'a' })], ending: 'stall' });
      const chunks = await collect(call({ streamIdleTimeoutMs: 500 }));
      expect(said(chunks)).to.equal('a');
      expect(failureOf(chunks).code).to.equal('TIMEOUT');
      await server.disconnected();
    });

    it('counts a comment as a sign of life', async () => {
      // Each gap is well below the limit, their sum above it.
      function* comments(): Iterable<string | Promise<unknown>> {
        for (let at = 0; at < 20; at += 1) {
          yield ': still here\n\n';
          yield new Promise((resolve) => setTimeout(resolve, 60));
        }
        yield delta({ content: 'a' });
        yield DONE;
      }
      server.answer({ raw: comments() });
      expect(finishOf(await collect(call({ streamIdleTimeoutMs: 1000 })))).to.deep.equal({ kind: 'stop' });
    });

    it('does not count the time its consumer takes', async () => {
      const more = new Deferred<void>();
      server.answer({ raw: [delta({ content: 'a' }), more.promise, DONE] });
      const chunks: StreamChunk[] = [];
      for await (const batch of call({ streamIdleTimeoutMs: 500 })) {
        chunks.push(...batch);
        if (chunks.length > 2) continue;
        await new Promise((resolve) => setTimeout(resolve, 800));
        more.resolve();
      }
      expect(finishOf(chunks)).to.deep.equal({ kind: 'stop' });
    });
  });

  describe('an answer that is no event stream', () => {
    const refusal = { error: { message: 'bad things', type: 'invalid_request_error' } };
    const answers: readonly (readonly [
      what: string,
      type: string,
      body: string,
      code: string,
      message: string,
      status?: number,
    ])[] = [
      ['a JSON error', 'application/json', JSON.stringify(refusal), 'INVALID_REQUEST', 'bad things'],
      ['a JSON error laid out', 'application/json', JSON.stringify(refusal, null, 2), 'INVALID_REQUEST', 'bad things'],
      ['a JSON error said to be events', 'text/event-stream', JSON.stringify(refusal), 'INVALID_REQUEST', 'bad things'],
      [
        'an overload',
        'application/json',
        '{"error":{"message":"Server overloaded"}}',
        'SERVER',
        'Server overloaded',
        503,
      ],
      ['a status', 'application/json', '{"error":{"message":"wait","code":429}}', 'RATE_LIMIT', 'wait', 429],
      [
        'a key',
        'application/json',
        '{"error":{"message":"sk-test is bad","code":401}}',
        'AUTH',
        '[redacted] is bad',
        401,
      ],
      [
        'a whole completion',
        'application/json',
        '{"choices":[]}',
        'MALFORMED_RESPONSE',
        'the DeepSeek API answered with application/json in place of an event stream: {"choices":[]}',
      ],
      [
        'a page',
        'text/html; charset=utf-8',
        `<!doctype html>\n<title>Portal</title>${'x'.repeat(500)}`,
        'MALFORMED_RESPONSE',
        `the DeepSeek API answered with text/html; charset=utf-8 in place of an event stream: <!doctype html> <title>Portal</title>${'x'.repeat(82)}…`,
      ],
      [
        'a text',
        'text/plain',
        'upstream connect error',
        'MALFORMED_RESPONSE',
        'the DeepSeek API answered with text/plain in place of an event stream: upstream connect error',
      ],
    ];
    for (const [what, type, body, code, message, status] of answers) {
      it(`tells ${what}, however it is cut`, async () => {
        const next = caller();
        for (const raw of [[body], Array.from(body)]) {
          server.answer({ headers: { 'content-type': type }, raw });
          expect(failureOf(await collect(next()))).to.deep.equal({ code, message, ...(status && { status }) });
        }
      });
    }

    for (const ending of ['stall', 'cut'] as const) {
      it(`tells a page that never ends: ${ending}`, async () => {
        server.answer({ headers: { 'content-type': 'text/html' }, raw: ['<html>'], ending });
        expect(failureOf(await collect(call())).message).to.match(/text\/html in place of an event stream: <html>$/);
        await server.disconnected();
      });
    }

    for (const encoding of ['gzip', 'deflate', 'br', 'identity, BR']) {
      it(`tells a body that is encoded: ${encoding}`, async () => {
        const headers = { 'content-type': 'text/event-stream', 'content-encoding': encoding };
        server.answer({ headers, raw: [Uint8Array.of(0x1f, 0x8b, 8, 0)], ending: 'stall' });
        const compression = encoding.split(', ').at(-1);
        expect(failureOf(await collect(call()))).to.deep.equal({
          code: 'MALFORMED_RESPONSE',
          message: `the DeepSeek API answered with a body compressed by ${compression}, although "identity" was asked for`,
        });
        await server.disconnected();
      });
    }

    it('reads events of whatever content type and nominal encoding', async () => {
      const next = caller();
      for (const type of ['application/json', 'text/html', 'text/plain', '']) {
        const headers = { 'content-type': type, 'content-encoding': 'utf-8' };
        server.answer({ headers, raw: [': hi\n\n', ...eventsOf({ text: 'ok' })] });
        expect(said(await collect(next())), type).to.equal('ok');
      }
      server.answer({ wire: `HTTP/1.1 200 OK\r\n\r\n${eventsOf({ text: 'ok' }).join('')}` });
      expect(said(await collect(next()))).to.equal('ok');
    });

    it('still tells a stream that was cut, anywhere before its first event (H3)', async () => {
      const next = caller();
      const event = ': hi\n\n\ndata: {"choices":[]}\n\n';
      for (const type of ['text/event-stream', 'application/octet-stream']) {
        for (let length = 1; length <= event.length; length += 1) {
          server.answer({ headers: { 'content-type': type }, raw: [event.slice(0, length)] });
          expect(failureOf(await collect(next())).code, event.slice(0, length)).to.equal('STREAM_CLOSED');
        }
      }
    });
  });

  describe('a connection that was kept', () => {
    const dead: readonly (readonly [what: string, answer: ServerAnswer])[] = [
      ['reset', { wire: '', ending: 'reset' }],
      ['ended', { wire: '', ending: 'cut' }],
    ];

    /** Calls that follow each other, each over the connection of the one before it if that was kept. */
    async function calls(count: number): Promise<readonly (readonly StreamChunk[])[]> {
      const next = caller();
      const answers: (readonly StreamChunk[])[] = [];
      for (let at = 0; at < count; at += 1) answers.push(await collect(next()));
      return answers;
    }

    for (const [what, answer] of dead) {
      it(`sends once more over a fresh connection when it is ${what} on reuse`, async () => {
        server.answer({ text: 'one' }, answer, { text: 'two' });
        expect((await calls(2)).map((chunks) => said(chunks))).to.deep.equal(['one', 'two']);
        expect(server.opened).to.equal(2);
        expect(server.requests).to.have.length(3);
        expect(server.requests[2]?.body).to.deep.equal(server.requests[1]?.body);
        expect(server.requests[2]?.headers).to.deep.equal(server.requests[1]?.headers);
      });

      it(`sends no third time when the fresh one is ${what} too`, async () => {
        server.answer({ text: 'one' }, answer, answer, { text: 'never' });
        expect(failureOf((await calls(2))[1] ?? []).code).to.equal('TRANSPORT');
        expect(server.requests).to.have.length(3);
      });

      it(`sends once when a first connection is ${what}`, async () => {
        server.answer(answer, { text: 'never' });
        expect(failureOf((await calls(1))[0] ?? []).message).to.include(
          `DeepSeek API request to ${server.url} failed: `,
        );
        expect(server.requests).to.have.length(1);
      });
    }

    for (const wire of ['H', 'HTTP/1.1 20', 'HTTP/1.1 102 Processing\r\n\r\n', 'HTTP/1.1 200 OK\r\n\r\n']) {
      it(`sends once when it broke after ${JSON.stringify(wire)}`, async () => {
        server.answer({ text: 'one' }, { wire }, { text: 'never' });
        failureOf((await calls(2))[1] ?? []);
        expect(server.requests).to.have.length(2);
      });
    }

    it('takes none of the other kept connections for a fresh one', async () => {
      const next = caller();
      const held = new Deferred<void>();
      server.answer({ text: 'a', hold: held.promise }, { text: 'b' }, { wire: '', ending: 'reset' }, { text: 'ok' });
      const first = collect(next());
      await server.request(0);
      await collect(next());
      held.resolve();
      await first;
      expect(server.opened).to.equal(2);
      expect(said(await collect(next()))).to.equal('ok');
      expect(server.opened).to.equal(3);
    });

    for (const [how, end] of [
      ['aborted', (abort: AbortController) => abort.abort()],
      ['closed', () => deepseek.scope.close()],
    ] as const) {
      it(`sends nothing more when the call is ${how}`, async () => {
        const next = caller();
        const abort = new AbortController();
        server.answer({ text: 'one' }, { hold: new Promise(() => undefined) }, { text: 'never' });
        await collect(next());
        const chunks = collect(next({ signal: abort.signal }));
        await server.request(1);
        await end(abort);
        expect(failureOf(await chunks).code).to.equal(how === 'aborted' ? 'ABORTED' : 'TRANSPORT');
        await server.disconnected();
        expect(server.opened).to.equal(1);
      });
    }
  });

  describe('abort', () => {
    const aborted = { kind: 'aborted', failure: { code: 'ABORTED', message: 'the model call was aborted' } };

    it('ends a call that waits for the head', async () => {
      const abort = new AbortController();
      server.answer({ hold: new Promise(() => undefined) });
      const chunks = collect(call({}, { signal: abort.signal }));
      await server.request(0);
      abort.abort();
      expect(finishOf(await chunks)).to.deep.equal(aborted);
      await server.disconnected();
    });

    it('ends a call in the middle of its stream', async () => {
      const abort = new AbortController();
      server.answer({ raw: [delta({ content: 'a' })], ending: 'stall' });
      const chunks: StreamChunk[] = [];
      for await (const batch of call({}, { signal: abort.signal })) {
        chunks.push(...batch);
        abort.abort();
      }
      expect(said(chunks)).to.equal('a');
      expect(finishOf(chunks)).to.deep.equal(aborted);
      await server.disconnected();
    });

    it('ends a call whose whole answer has arrived but was not read', async () => {
      const abort = new AbortController();
      const more = new Deferred<void>();
      server.answer({ raw: [delta({ content: 'a' }), more.promise, delta({ content: 'b' }), DONE] });
      const chunks: StreamChunk[] = [];
      for await (const batch of call({}, { signal: abort.signal })) {
        chunks.push(...batch);
        if (abort.signal.aborted) continue;
        more.resolve();
        await (await server.request(0)).closed;
        for (let turns = 0; turns < 10; turns += 1) await new Promise(setImmediate);
        abort.abort();
      }
      expect(said(chunks)).to.equal('a');
      expect(finishOf(chunks)).to.deep.equal(aborted);
    });

    it('sends nothing when it comes first', async () => {
      expect(finishOf(await collect(call({}, { signal: AbortSignal.abort() })))).to.deep.equal(aborted);
      expect(server.opened).to.equal(0);
    });

    it('closes the connection when the consumer stops', async () => {
      server.answer({ raw: [delta({ content: 'a' })], ending: 'stall' });
      for await (const _ of call()) break;
      await server.disconnected();
    });

    it('leaves no listener on the signal, however a call ends (E9)', async () => {
      const { signal } = new AbortController();
      const next = caller({ streamIdleTimeoutMs: 200 });
      server.answer({ text: 'ok' }, { status: 500 }, { raw: [delta({ content: 'a' })], ending: 'reset' });
      server.answer({ raw: [delta({ content: 'a' })], ending: 'stall' });
      for (let at = 0; at < 4; at += 1) await collect(next({ signal }));
      expect(getEventListeners(signal, 'abort')).to.deep.equal([]);
    });
  });

  it('closes its connections with its scope, those in use too', async () => {
    const next = caller();
    server.answer({ text: 'ok' }, { raw: [delta({ content: 'a' })], ending: 'stall' });
    await collect(next());
    const stalled = collect(next());
    await server.request(1);
    await deepseek.scope.close();
    expect(finishOf(await stalled)).to.have.nested.property('failure.code', 'TRANSPORT');
    await server.disconnected();
    expect(finishOf(await collect(next()))).to.have.nested.property('failure.code', 'TRANSPORT');
    expect(server.requests).to.have.length(2);
  });
});
