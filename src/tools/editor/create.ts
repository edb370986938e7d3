import { lstat } from 'node:fs/promises';
import { errorCode } from '../../base/index.js';
import { createFile } from './atomic-write.js';
import { type EditorArgs, required } from './editor-args.js';
import { FileError } from './file-errors.js';

/**
 * Makes a new file, and the directories to it.
 *
 * @throws FileError
 * @throws Error something is there already, be it a broken link
 */
export async function create(path: string, args: EditorArgs, signal: AbortSignal): Promise<string> {
  const text = required(args, 'file_text');
  if (await isTaken(path)) throw FileError.exists(path);
  await createFile(path, text, signal);
  return `Created ${path}.`;
}

async function isTaken(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (thrown) {
    if (errorCode(thrown) === 'ENOENT') return false;
    throw FileError.of(thrown, path);
  }
}
