import type { IncomingHttpHeaders } from 'node:http';
import { headOf } from '../../base/index.js';
import { LlmError } from '../errors.js';
import { codeOfHttpStatus, type ProviderError } from '../http-failure.js';

const MAX_MESSAGE_CHARS = 2_000;

/** What went wrong, from an error status, its headers and its body (core §5.6). The raw body is the cause. */
export function httpError(
  response: { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: string },
  now: number = Date.now(),
): LlmError {
  const { status, headers, body } = response;
  const error = providerErrorOf(parseJson(body));
  const retryAfterMs = retryAfterMsOf(headers['retry-after'], now);
  const requestId = headerOf(headers, 'x-request-id') ?? headerOf(headers, 'x-deepseek-request-id');
  return new LlmError(
    {
      code: codeOfHttpStatus(status, error),
      message: error.message ?? `DeepSeek API error (HTTP ${status})`,
      status,
      ...(retryAfterMs !== undefined && { providerRetryAfterMs: retryAfterMs }),
      ...(requestId !== undefined && { requestId }),
    },
    body === '' ? undefined : { cause: body },
  );
}

/** The `error` member of a payload, read with distrust; a message that is blank counts as none. */
export function providerErrorOf(payload: unknown): ProviderError {
  const error: unknown = (payload as { error?: unknown } | null | undefined)?.error;
  if (typeof error === 'string') return textMember('message', error);
  const { code, type, message } = (error ?? {}) as { readonly [key: string]: unknown };
  return {
    ...textMember('code', typeof code === 'number' ? String(code) : code),
    ...textMember('type', type),
    ...textMember('message', message),
  };
}

function textMember(key: keyof ProviderError, value: unknown): ProviderError {
  return typeof value === 'string' && value.trim() !== '' ? { [key]: headOf(value, MAX_MESSAGE_CHARS) } : {};
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Positive whole seconds, or an HTTP date that is still to come; anything else says nothing. */
function retryAfterMsOf(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const isDate = /^[A-Za-z]{3,9},? /.test(header);
  const ms = isDate ? Date.parse(header) - now : /^\d+$/.test(header) ? Number(header) * 1000 : 0;
  return Number.isSafeInteger(ms) && ms > 0 ? ms : undefined;
}
