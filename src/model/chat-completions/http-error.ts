import type { IncomingHttpHeaders } from 'node:http';
import { headOf } from '../../base/index.js';
import type { LlmFailure } from '../../protocol/index.js';
import { LlmError } from '../errors.js';
import { codeOfHttpStatus, factsOfReportedError, type ProviderError } from '../http-failure.js';

const MAX_MESSAGE_CHARS = 2_000;

/** UTF-16 units that a message quotes of an answer. */
const MAX_EXCERPT_CHARS = 120;
const COMPRESSIONS = new Set(['gzip', 'x-gzip', 'deflate', 'br', 'zstd', 'compress', 'x-compress']);

/** A response that is no event stream, as far as an error is made from it. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** As much of it as was read. */
  readonly body: string;
  /** The base URL that was asked, without credentials. */
  readonly base: string;
  /** The provider, as messages name it. */
  readonly name: string;
}

/** What went wrong, from an error status, its headers and its body (core §5.6). The raw body is the cause. */
export function httpError({ status, headers, body, base, name }: HttpAnswer, now: number = Date.now()): LlmError {
  const error = providerErrorOf(parseJson(body));
  const target = status >= 300 && status < 400 ? originOf(headers.location, base) : undefined;
  const message =
    target === undefined
      ? (error.message ?? `${name} API error (HTTP ${status})`)
      : `${name} API redirects to ${target} (HTTP ${status}), which is not followed: set the base URL to where the API is`;
  const facts = { code: codeOfHttpStatus(status, error), message, status, ...factsOf(headers, now) };
  return new LlmError(facts, body === '' ? undefined : { cause: body });
}

/** What went wrong when a body of status 200 is no event stream: the error it reports, else a quotation of it. */
export function answerError({ headers, body, name }: HttpAnswer, now: number = Date.now()): LlmError {
  const payload = parseJson(body.trim());
  if (reportsError(payload)) {
    const error = providerErrorOf(payload);
    const message = error.message ?? `the ${name} API reported an error in place of a stream`;
    // Refused, as far as it can be told: only what speaks of an overload is worth another try.
    const facts = { ...factsOfReportedError(error, 400), message, ...factsOf(headers, now) };
    return new LlmError(facts, { cause: body });
  }
  const type = excerptOf(headers['content-type'] ?? 'no content type');
  const message = `the ${name} API answered with ${type} in place of an event stream: ${excerptOf(body)}`;
  return new LlmError({ code: 'MALFORMED_RESPONSE', message, ...factsOf(headers, now) }, { cause: body });
}

/** @throws LlmError `MALFORMED_RESPONSE` for a compressed body, which was not asked for */
export function checkEncoding(headers: IncomingHttpHeaders, name: string): void {
  const encoding = headers['content-encoding']?.split(',').find((name) => COMPRESSIONS.has(name.trim().toLowerCase()));
  if (encoding === undefined) return;
  throw new LlmError({
    code: 'MALFORMED_RESPONSE',
    message: `the ${name} API answered with a body compressed by ${encoding.trim()}, although "identity" was asked for`,
  });
}

/** At most 120 characters, on one line. */
export function excerptOf(text: string): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  return line.length > MAX_EXCERPT_CHARS ? `${headOf(line, MAX_EXCERPT_CHARS - 1)}…` : line;
}

/** Whether a payload is, or holds, an error: under `error`, or itself of `object: "error"` as vLLM has it. */
export function reportsError(payload: unknown): boolean {
  const { error, object } = (payload ?? {}) as { readonly error?: unknown; readonly object?: unknown };
  return (error !== undefined && error !== null) || object === 'error';
}

/** The error of a payload, read with distrust; a message that is blank counts as none. */
export function providerErrorOf(payload: unknown): ProviderError {
  const { error, ...rest } = (payload ?? {}) as { readonly error?: unknown; readonly object?: unknown };
  if (typeof error === 'string') return textMember('message', error);
  const { code, type, message } = (error ?? (rest.object === 'error' ? rest : {})) as Readonly<Record<string, unknown>>;
  return {
    ...textMember('code', typeof code === 'number' ? String(code) : code),
    ...textMember('type', type),
    ...textMember('message', message),
  };
}

function textMember(key: keyof ProviderError, value: unknown): ProviderError {
  return typeof value === 'string' && value.trim() !== '' ? { [key]: headOf(value, MAX_MESSAGE_CHARS) } : {};
}

function factsOf(headers: IncomingHttpHeaders, now: number): Pick<LlmFailure, 'providerRetryAfterMs' | 'requestId'> {
  const providerRetryAfterMs = retryAfterMsOf(headers['retry-after'], now);
  const requestId = headerOf(headers, 'x-request-id') ?? headerOf(headers, 'x-deepseek-request-id');
  return {
    ...(providerRetryAfterMs !== undefined && { providerRetryAfterMs }),
    ...(requestId !== undefined && { requestId }),
  };
}

/** The origin alone: the rest of a location may hold secrets. */
function originOf(location: string | undefined, base: string): string | undefined {
  if (location === undefined || !URL.canParse(location, base)) return undefined;
  const { origin } = new URL(location, base);
  return origin === 'null' ? undefined : origin;
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
