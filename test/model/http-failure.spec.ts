import { expect } from 'chai';
import { codeOfHttpStatus, codeOfReportedError, type ProviderError } from '../../src/model/http-failure.js';

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

describe('codeOfReportedError', () => {
  const cases: readonly (readonly [error: ProviderError, code: string, refused?: string])[] = [
    [{ code: '503', message: 'overloaded' }, 'SERVER'],
    [{ code: '429' }, 'RATE_LIMIT'],
    [{ type: 'rate_limit_error' }, 'RATE_LIMIT'],
    [{ message: 'insufficient quota' }, 'QUOTA'],
    [{ type: 'overloaded_error', message: 'Overloaded' }, 'SERVER'],
    [{ message: 'Service is temporarily unavailable' }, 'SERVER'],
    [{ type: 'server_error' }, 'SERVER'],
    [{ code: '529' }, 'SERVER'],
    [{ code: 'invalid_api_key' }, 'AUTH'],
    [{ type: 'authentication_error' }, 'AUTH'],
    [{ code: '404' }, 'HTTP_404'],
    [{ code: '200' }, 'SERVER', 'INVALID_REQUEST'],
    [{ code: 'context_length_exceeded' }, 'SERVER', 'CONTEXT_WINDOW_EXCEEDED'],
    [{}, 'SERVER', 'INVALID_REQUEST'],
  ];
  for (const [error, code, refused = code] of cases) {
    it(`maps ${JSON.stringify(error)} to ${code}, and to ${refused} where no stream began`, () => {
      expect(codeOfReportedError(error, 500)).to.equal(code);
      expect(codeOfReportedError(error, 400)).to.equal(refused);
    });
  }
});
