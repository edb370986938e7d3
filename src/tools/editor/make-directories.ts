import { access, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from '../../base/index.js';

/**
 * Makes a directory and those above it, one level at a time: where the file system refuses with ENOENT, as `/proc` does,
 * Node's recursive `mkdir` never ends.
 *
 * @throws system errors; something else that is in the way is told by what is done in the directory
 */
export async function makeDirectories(path: string): Promise<void> {
  if (await exists(path)) return;
  await makeDirectories(dirname(path));
  try {
    await mkdir(path);
  } catch (thrown) {
    // Somebody else was first, or it is a broken link.
    if (errorCode(thrown) !== 'EEXIST') throw thrown;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}
