import { expect } from 'chai';
import { httpError } from '../../../src/model/deepseek/http-error.js';

const NOW = Date.UTC(2026, 0, 1, 12, 0, 0);

function failure(status: number, body: string, headers: Record<string, string> = {}): object {
  return httpError({ status, headers, body }, NOW).failure;
}

describe('httpError', () => {
  it('says what the body says, and keeps the body as the cause', () => {
    const body = JSON.stringify({ error: { message: 'slow down', type: 'rate_limit', code: 17 } });
    const error = httpError({ status: 429, headers: {}, body }, NOW);
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
});
