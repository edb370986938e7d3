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

/** The endpoint below a base URL, which is one that {@link isHttpUrl} accepts. */
export function endpointOf(baseURL: string): Pick<ChatRoute, 'url' | 'base'> {
  const url = new URL(`${baseURL.replace(/\/+$/, '')}/chat/completions`);
  return { url, base: `${url.origin}${url.pathname.replace(/\/chat\/completions$/, '')}` };
}

/**
 * The key that the environment holds at this moment.
 *
 * @param name the provider, as messages name it
 * @throws LlmError `MISSING_CREDENTIAL`, `INVALID_CREDENTIAL`; never with the value in it
 */
export function apiKeyOf(variable: string, name: string): string {
  const key = process.env[variable]?.trim() ?? '';
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
