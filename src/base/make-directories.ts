import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorCode } from './errors.js';

/**
 * Makes a directory and those above it, one level at a time: where the file system refuses with ENOENT, as `/proc`
 * does, Node's recursive `mkdir` never ends.
 *
 * @param mode of what is made; default: as the umask says
 * @returns the topmost directory that was made; undefined when there was nothing to make
 * @throws system errors
 */
export function makeDirectories(path: string, mode?: number): string | undefined {
  if (existsSync(path)) return undefined;
  const above = makeDirectories(dirname(path), mode);
  try {
    mkdirSync(path, { mode });
  } catch (thrown) {
    // Somebody else may be first.
    if (errorCode(thrown) !== 'EEXIST') throw thrown;
    return above;
  }
  return above ?? path;
}
