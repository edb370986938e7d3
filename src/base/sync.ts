import { closeSync, fsync, openSync } from 'node:fs';
import { errorCode } from './errors.js';

/** Windows, some network file systems, and a parent that may be written but not read. */
const CANNOT_SYNC_DIRECTORY: ReadonlySet<string | undefined> = new Set([
  'EACCES',
  'EINVAL',
  'EISDIR',
  'ENOTSUP',
  'EPERM',
]);

/** Makes what was written survive a power cut. */
export function syncFile(fd: number): Promise<void> {
  return new Promise((resolve, reject) => fsync(fd, (error) => (error === null ? resolve() : reject(error))));
}

/** Makes a directory's entries survive a power cut, where the platform and the rights of the process allow it. */
export async function syncDirectory(path: string): Promise<void> {
  try {
    const fd = openSync(path, 'r');
    try {
      await syncFile(fd);
    } finally {
      closeSync(fd);
    }
  } catch (thrown) {
    if (!CANNOT_SYNC_DIRECTORY.has(errorCode(thrown))) throw thrown;
  }
}
