import { expect } from 'chai';
import { codeOfHttpStatus, factsOfReportedError, type ProviderError } from '../../src/model/http-failure.js';

describe('codeOfHttpStatus', () => {
  const cases: readonly (readonly [status: number, error: ProviderError, code: string])[] = [
    [401, {}, 'AUTH'],
    [403, { message: 'insufficient balance' }, 'AUTH'],
    [413, { message: 'quota exceeded' }, 'INVALID_REQUEST'],
    [429, {}, 'RATE_LIMIT'],
    [429, { message: 'You exceeded your current quota, please check your plan' }, 'QUOTA'],
    [429, { type: 'insufficient_quota' }, 'QUOTA'],
    [402, {}, 'PAYMENT_REQUIRED'],
    [402, { message: 'Insufficient Balance' }, 'QUOTA'],
    [402, { message: 'Your credits are depleted.' }, 'QUOTA'],
    [402, { message: 'out of credits' }, 'QUOTA'],
    [403, {}, 'AUTH'],
    [400, {}, 'INVALID_REQUEST'],
    [400, { message: 'usage limit has been reached' }, 'QUOTA'],
    [400, { code: 'context_length_exceeded' }, 'CONTEXT_WINDOW_EXCEEDED'],
    [400, { message: "This model's maximum context length is 131072 tokens." }, 'CONTEXT_WINDOW_EXCEEDED'],
    [400, { message: 'The input of 9 tokens is too long for the model' }, 'CONTEXT_WINDOW_EXCEEDED'],
    [400, { message: 'prompt exceeds the model context' }, 'CONTEXT_WINDOW_EXCEEDED'],
    [400, { message: 'unknown field "context"' }, 'INVALID_REQUEST'],
    [404, {}, 'HTTP_404'],
    [418, { message: 'the teapot is out of tea' }, 'HTTP_418'],
    [422, {}, 'UNPROCESSABLE'],
    [500, {}, 'SERVER'],
    [503, { message: 'overloaded' }, 'SERVER'],
    [529, {}, 'SERVER'],
    [307, {}, 'HTTP_307'],
  ];
  for (const [status, error, code] of cases) {
    it(`maps ${status} ${JSON.stringify(error)} to ${code}`, () => {
      expect(codeOfHttpStatus(status, error)).to.equal(code);
    });
  }
});

describe('factsOfReportedError', () => {
  const cases: readonly (readonly [
    error: ProviderError,
    status: number | undefined,
    code: string,
    refused?: string,
  ])[] = [
    [{ code: '503', message: 'overloaded' }, 503, 'SERVER'],
    [{ code: '429' }, 429, 'RATE_LIMIT'],
    [{ type: 'rate_limit_error' }, 429, 'RATE_LIMIT'],
    [{ message: 'insufficient quota' }, undefined, 'QUOTA'],
    [{ type: 'overloaded_error', message: 'Overloaded' }, 503, 'SERVER'],
    [{ message: 'Service is temporarily unavailable' }, 503, 'SERVER'],
    [{ type: 'server_error' }, 503, 'SERVER'],
    [{ code: '529' }, 529, 'SERVER'],
    [{ code: 'invalid_api_key' }, 401, 'AUTH'],
    [{ type: 'authentication_error' }, 401, 'AUTH'],
    [{ code: '404' }, 404, 'HTTP_404'],
    [{ code: '200' }, undefined, 'SERVER', 'INVALID_REQUEST'],
    [{ code: 'context_length_exceeded' }, undefined, 'SERVER', 'CONTEXT_WINDOW_EXCEEDED'],
    [{}, undefined, 'SERVER', 'INVALID_REQUEST'],
  ];
  for (const [error, status, code, refused = code] of cases) {
    it(`maps ${JSON.stringify(error)} to ${code}, and to ${refused} where no stream began (H8)`, () => {
      const facts = status === undefined ? {} : { status };
      expect(factsOfReportedError(error, 500)).to.deep.equal({ code, ...facts });
      expect(factsOfReportedError(error, 400)).to.deep.equal({ code: refused, ...facts });
    });
  }
});
