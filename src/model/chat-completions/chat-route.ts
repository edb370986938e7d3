import { MIN_SECRET_CHARS } from '../../base/index.js';
import type { Environment } from '../../kernel/index.js';
import { LlmError } from '../errors.js';

/** Where one call goes, and what it says of itself. */
export interface ChatRoute {
  readonly url: URL;
  /** The base URL as messages name it: without credentials or query. */
  readonly base: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Texts that no message may quote. */
  readonly secrets: readonly string[];
}

/** Whether `value` is the text of an absolute `http:` or `https:` URL. */
export function isHttpUrl(value: unknown): boolean {
  return typeof value === 'string' && /^https?:/i.test(value) && URL.canParse(value);
}

/** Where a base URL leads, and what of it is secret: a gateway's key may be in its query. */
export type Endpoint = Pick<ChatRoute, 'url' | 'base' | 'secrets'>;

/** The endpoint below a base URL, which is one that {@link isHttpUrl} accepts; its query stays. */
export function endpointOf(baseURL: string): Endpoint {
  const url = new URL(baseURL);
  url.hash = '';
  const path = url.pathname.replace(/\/+$/, '');
  url.pathname = `${path}/chat/completions`;
  const values = new Set([...url.searchParams.values()].flatMap((value) => [value, encodeURIComponent(value)]));
  const secrets = [...values].filter((value) => value.length >= MIN_SECRET_CHARS);
  return { url, base: `${url.origin}${path}`, secrets };
}

/**
 * The key that the environment holds at this moment.
 *
 * @param name the provider, as messages name it
 * @throws LlmError `MISSING_CREDENTIAL`, `INVALID_CREDENTIAL`; never with the value in it
 */
export function apiKeyOf(variable: string, name: string, env: Environment): string {
  const key = env[variable]?.trim() ?? '';
  if (key === '') {
    throw new LlmError({
      code: 'MISSING_CREDENTIAL',
      message: `no ${name} API key: set the environment variable ${variable}, or use the provider "offline"`,
    });
  }
  if (/[^\x20-\x7e]/.test(key)) {
    throw new LlmError({
      code: 'INVALID_CREDENTIAL',
      message: `the environment variable ${variable} holds characters that no HTTP header can carry`,
    });
  }
  return key;
}
