import { isCredentialName, isObject } from '../base/index.js';

/** What stands in a dump for a value that nobody may read. */
export const HIDDEN = '[hidden]';

const REFERENCES = /\$\{(env|home):[^}]*\}/g;
/** What may stand beside a reference to a credential: the scheme of an authorization header. */
const SCHEME = /^\s*(?:bearer|basic|token)?\s*$/i;

/** A row's config as a dump shows it: credentials are hidden, references to them stay (runtime §1.11). */
export function maskConfig(config: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(config).map(([key, value]) => [key, masked(value, isSecretKey(key))]));
}

function masked(value: unknown, isSecret: boolean): unknown {
  if (typeof value === 'string') return isSecret && !isReference(value) ? HIDDEN : maskUrl(value);
  if (Array.isArray(value)) return value.map((item) => masked(item, isSecret));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, masked(member, isSecret || isSecretKey(key))]),
  );
}

/** `apiKeyEnv` names a variable; the values of `headers` are keys more often than not. */
function isSecretKey(key: string): boolean {
  if (/Env$/.test(key)) return false;
  return /^(?:authorization|cookie|headers)$/i.test(key) || isCredentialName(key);
}

/** Nothing but references without a default, and the scheme that a header wants before them. */
function isReference(value: string): boolean {
  const references = value.match(REFERENCES) ?? [];
  if (references.some((reference) => /:-./s.test(reference))) return false;
  return value === '' || (references.length > 0 && SCHEME.test(value.replaceAll(REFERENCES, '')));
}

/** A URL without its user's password and without what its query calls a credential. */
function maskUrl(value: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(value) || !URL.canParse(value)) return value;
  const url = new URL(value);
  const secrets = [...url.searchParams.keys()].filter((name) => isCredentialName(name));
  if (url.password === '' && secrets.length === 0) return value;
  if (url.password !== '') url.password = 'hidden';
  for (const name of secrets) url.searchParams.set(name, 'hidden');
  return url.href;
}
