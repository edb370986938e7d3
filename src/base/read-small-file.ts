import { existsSync, readFileSync } from 'node:fs';
import { errorCode } from './errors.js';

/**
 * The text of a small file that a start looks at; undefined when there is none. Synchronous: a few of them cost less
 * than the threads that would read them.
 *
 * @throws system errors
 */
export function readSmallFile(file: string): string | undefined {
  // An error for each file that is not there, the usual case, would cost more than this look.
  if (!existsSync(file)) return undefined;
  try {
    return readFileSync(file, 'utf8');
  } catch (thrown) {
    if (errorCode(thrown) === 'ENOENT' || errorCode(thrown) === 'ENOTDIR') return undefined;
    throw thrown;
  }
}
