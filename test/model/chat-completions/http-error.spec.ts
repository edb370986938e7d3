import { expect } from 'chai';
import { answerError, excerptOf, httpError } from '../../../src/model/chat-completions/http-error.js';

const TARGET = { base: 'https://api.example/v1', name: 'DeepSeek' };
const NOW = Date.UTC(2026, 0, 1, 12, 0, 0);

function failure(status: number, body: string, headers: Record<string, string> = {}): object {
  return httpError({ status, headers, body, ...TARGET }, NOW).failure;
}

describe('httpError', () => {
  it('says what the body says, and keeps the body as the cause', () => {
    const body = JSON.stringify({ error: { message: 'slow down', type: 'rate_limit', code: 17 } });
    const error = httpError({ status: 429, headers: {}, body, ...TARGET }, NOW);
    expect(error.failure).to.deep.equal({ code: 'RATE_LIMIT', message: 'slow down', status: 429 });
    expect(error.cause).to.equal(body);
  });

  const mute: readonly (readonly [what: string, body: string])[] = [
    ['an HTML page', '<html>Bad gateway</html>'],
    ['nothing', ''],
    ['JSON without an error', '{"ok":false}'],
    ['JSON that is no object', 'null'],
    ['a blank message', '{"error":{"message":" "}}'],
    ['a message that is no text', '{"error":{"message":{"a":1}}}'],
  ];
  for (const [what, body] of mute) {
    it(`falls back to the status when the body is ${what}`, () => {
      expect(failure(502, body)).to.deep.equal({
        code: 'SERVER',
        message: 'DeepSeek API error (HTTP 502)',
        status: 502,
      });
    });
  }

  it('reads an error that is only a text', () => {
    expect(failure(400, '{"error":"no such model"}')).to.have.property('message', 'no such model');
  });

  it('judges by the words of code, type and message', () => {
    expect(failure(402, '{"error":{"message":"pay","code":"insufficient_balance"}}')).to.have.property('code', 'QUOTA');
    expect(failure(402, '{"error":{"message":"pay"}}')).to.have.property('code', 'PAYMENT_REQUIRED');
  });

  const waits: readonly (readonly [header: string, ms: number | undefined])[] = [
    ['30', 30_000],
    ['0', undefined],
    ['-5', undefined],
    ['1.5', undefined],
    ['soon', undefined],
    ['9'.repeat(20), undefined],
    ['Thu, 01 Jan 2026 12:00:10 GMT', 10_000],
    ['Thu, 01 Jan 2026 11:59:50 GMT', undefined],
    ['Thu, 99 Foo 2026', undefined],
  ];
  for (const [header, ms] of waits) {
    it(`reads retry-after ${header}`, () => {
      const facts = failure(429, '', { 'retry-after': header });
      expect((facts as { providerRetryAfterMs?: number }).providerRetryAfterMs).to.equal(ms);
      expect('providerRetryAfterMs' in facts).to.equal(ms !== undefined);
    });
  }

  const ids: readonly (readonly [headers: Record<string, string>, id: string | undefined])[] = [
    [{ 'x-request-id': 'r-1', 'x-deepseek-request-id': 'r-2' }, 'r-1'],
    [{ 'x-deepseek-request-id': 'r-2' }, 'r-2'],
    [{}, undefined],
  ];
  for (const [headers, id] of ids) {
    it(`takes the request id from ${JSON.stringify(headers)}`, () => {
      expect((failure(500, '', headers) as { requestId?: string }).requestId).to.equal(id);
    });
  }

  const locations: readonly (readonly [location: string, origin: string])[] = [
    ['https://user:secret@other.example/v1?token=t', 'https://other.example'],
    ['//other.example:8443/v1', 'https://other.example:8443'],
    ['/v2/chat/completions', 'https://api.example'],
  ];
  for (const [location, origin] of locations) {
    it(`names where a redirect leads, and no more of ${location}`, () => {
      expect(failure(307, '{"error":{"message":"moved"}}', { location })).to.deep.equal({
        code: 'HTTP_307',
        message: `DeepSeek API redirects to ${origin} (HTTP 307), which is not followed: set the base URL to where the API is`,
        status: 307,
      });
    });
  }

  for (const headers of [{}, { location: 'http://' }, { location: 'data:,x' }]) {
    it(`knows the status of a redirect to nowhere, ${JSON.stringify(headers)}`, () => {
      expect(failure(302, '', headers)).to.have.property('message', 'DeepSeek API error (HTTP 302)');
    });
  }

  it('reads a location in a redirect only', () => {
    const facts = failure(500, '', { location: 'https://other.example' });
    expect(facts).to.have.property('message', 'DeepSeek API error (HTTP 500)');
  });
});

describe('answerError', () => {
  function facts(body: string, headers: Record<string, string> = {}): object {
    return answerError({ status: 200, headers, body, ...TARGET }, NOW).failure;
  }

  it('says what a JSON error says, with the facts of the headers', () => {
    const body = '{"error":{"message":"bad things","type":"invalid_request_error"}}';
    const headers = { 'x-request-id': 'r-1', 'retry-after': '2' };
    expect(facts(body, headers)).to.deep.equal({
      code: 'INVALID_REQUEST',
      message: 'bad things',
      requestId: 'r-1',
      providerRetryAfterMs: 2000,
    });
  });

  it('says that an error has no message', () => {
    expect(facts('{"error":{}}')).to.have.property(
      'message',
      'the DeepSeek API reported an error in place of a stream',
    );
  });

  for (const body of ['{"detail":"no"}', '{"error":null}', 'null', '7', '{"error":', 'not today']) {
    it(`quotes ${body}`, () => {
      expect(facts(body, { 'content-type': 'text/plain' })).to.deep.equal({
        code: 'MALFORMED_RESPONSE',
        message: `the DeepSeek API answered with text/plain in place of an event stream: ${body}`,
      });
    });
  }
});

describe('excerptOf', () => {
  it('keeps to one line of 120 characters', () => {
    expect(excerptOf(' a\r\n\tb\0c ')).to.equal('a b c');
    expect(excerptOf('x'.repeat(120))).to.have.length(120);
    expect(excerptOf('x'.repeat(121))).to.equal(`${'x'.repeat(119)}…`);
    expect(excerptOf(`${'x'.repeat(118)}🔥🔥`)).to.equal(`${'x'.repeat(118)}…`);
  });
});
