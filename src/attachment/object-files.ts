import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeDirectories, syncDirectory } from '../base/index.js';

const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;

/**
 * Writes files whole, for their owner only, and all or none: each goes into a temporary file beside its path and is
 * synced; only when all are there are they renamed, and the directories synced. A rename that fails midway leaves
 * those before it.
 *
 * @throws system errors
 */
export async function writeFiles(files: ReadonlyMap<string, Buffer>): Promise<void> {
  const staged = new Map<string, string>();
  try {
    const changed = new Set<string>();
    for (const [path, bytes] of files) {
      for (const directory of makeDirectory(dirname(path))) changed.add(directory);
      const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
      staged.set(temporary, path);
      await writeTemporary(temporary, bytes);
    }
    for (const [temporary, path] of staged) await rename(temporary, path);
    for (const directory of changed) await syncDirectory(directory);
  } catch (thrown) {
    for (const temporary of staged.keys()) await rm(temporary, { force: true }).catch(() => undefined);
    throw thrown;
  }
}

async function writeTemporary(path: string, bytes: Buffer): Promise<void> {
  const file = await open(path, 'wx', FILE_MODE);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** @returns the directory, and above it each whose entries are new, lowest first */
function makeDirectory(path: string): readonly string[] {
  const topmost = makeDirectories(path, DIRECTORY_MODE);
  const changed = [path];
  if (topmost === undefined) return changed;
  for (let at = path; at.length >= topmost.length; at = dirname(at)) changed.push(dirname(at));
  return changed;
}
