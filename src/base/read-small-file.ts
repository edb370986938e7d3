import { readFileSync, statSync } from 'node:fs';

/**
 * The text of a small file that a start looks at; undefined when there is none. Synchronous: a few of them cost less
 * than the threads that would read them.
 *
 * @throws Error it is no regular file: a pipe might never end
 * @throws system errors
 */
export function readSmallFile(file: string): string | undefined {
  // An error for each file that is not there, the usual case, would cost more than this look.
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  if (!found.isFile()) throw new Error('it is no regular file');
  return readFileSync(file, 'utf8');
}
