import { isCredentialName } from './credential-names.js';

/** Shorter values stand in too many texts by chance to be masked. */
export const MIN_SECRET_CHARS = 8;
/** What stands for a masked value. */
export const MASK = '[redacted]';

/**
 * Takes the credentials of an environment out of texts: the values of variables that {@link isCredentialName} calls
 * so, as they are and as JSON writes them. Values under {@link MIN_SECRET_CHARS} stay. Linear in the text.
 *
 * @param env read once
 */
export function secretMasker(env: Readonly<Record<string, string | undefined>>): (text: string) => string {
  const values = Object.entries(env).flatMap(([name, value]) => {
    if (value === undefined || value.length < MIN_SECRET_CHARS || !isCredentialName(name)) return [];
    return [value, JSON.stringify(value).slice(1, -1)];
  });
  if (values.length === 0) return (text) => text;
  // The longest first: one value may be the beginning of another.
  const sorted = [...new Set(values)].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(sorted.map((value) => value.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'), 'g');
  return (text) => text.replace(pattern, MASK);
}
