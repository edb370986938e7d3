import { getEventListeners } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect } from 'chai';
import { Deferred } from '../../../src/base/index.js';
import type { DeepSeekConfigDto } from '../../../src/model/deepseek/deepseek-config.js';
import type { ModelRequest } from '../../../src/model/index.js';
import type { StreamChunk } from '../../../src/protocol/index.js';
import { type DeepSeekServer, DONE, delta } from '../../support/deepseek-server.js';
import { collect, finishOf, said } from '../../support/model-request.js';
import { type Call, DeepSeekFixture } from './deepseek-fixture.js';

describe('DeepSeekAdapter transport', () => {
  let server: DeepSeekServer;
  let fixture: DeepSeekFixture;

  beforeEach(async () => {
    fixture = await DeepSeekFixture.create();
    server = fixture.server;
  });
  afterEach(() => fixture.dispose());

  function caller(config?: Partial<DeepSeekConfigDto>): Call {
    return fixture.caller(config);
  }
  function call(config?: Partial<DeepSeekConfigDto>, request?: Partial<ModelRequest>): ReturnType<Call> {
    return caller(config)(request);
  }

  describe('failures', () => {
    function failureOf(chunks: readonly StreamChunk[]): { code: string; message: string } {
      const reason = finishOf(chunks) as { failure?: { code: string; message: string } };
      if (reason.failure === undefined) throw new Error(`it did not fail: ${JSON.stringify(reason)}`);
      return reason.failure;
    }

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

    it('knows the status of an error answer that breaks off', async () => {
      server.answer({ status: 503, body: '{"error":', ending: 'cut' });
      expect(failureOf(await collect(call()))).to.deep.include({ code: 'SERVER', status: 503 });
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
    await fixture.scope.close();
    expect(finishOf(await stalled)).to.have.nested.property('failure.code', 'TRANSPORT');
    await server.disconnected();
    expect(finishOf(await collect(next()))).to.have.nested.property('failure.code', 'TRANSPORT');
    expect(server.requests).to.have.length(2);
  });
});
