import { open } from 'node:fs/promises';
import { errorCode } from './errors.js';

/** Windows, some network file systems, and a parent that may be written but not read. */
const CANNOT_SYNC_DIRECTORY: ReadonlySet<string | undefined> = new Set([
  'EACCES',
  'EINVAL',
  'EISDIR',
  'ENOTSUP',
  'EPERM',
]);

/** Makes a directory's entries survive a power cut, where the platform and the rights of the process allow it. */
export async function syncDirectory(path: string): Promise<void> {
  try {
    const directory = await open(path, 'r');
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  } catch (thrown) {
    if (!CANNOT_SYNC_DIRECTORY.has(errorCode(thrown))) throw thrown;
  }
}
