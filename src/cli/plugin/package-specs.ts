import { resolve } from 'node:path';

const LOCAL = /^(file:|link:)?(\.{1,2}(?:[\\/].*)?)$/;

/**
 * A package spec as npm understands it in another directory: `.`, `..`, `./x`, `../x` and their `file:` and `link:`
 * forms are seen from `directory`, all else stays (runtime §1.12).
 */
export function seenFrom(directory: string, spec: string): string {
  const local = LOCAL.exec(spec);
  return local === null ? spec : `${local[1] ?? ''}${resolve(directory, local[2] ?? '')}`;
}
