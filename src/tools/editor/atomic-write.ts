import { randomUUID } from 'node:crypto';
import { constants, copyFile, link, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode, makeDirectories } from '../../base/index.js';
import { FileError } from './file-errors.js';
import type { TextFile } from './text-file.js';

const NEW_FILE_MODE = 0o600;
/** Longest head of the file's name in that of the staged file: both together must fit into a name. */
const MAX_NAME_HEAD = 32;

/**
 * Puts `text` in the place of a file, whole or not at all. Mode and, where permitted, owner stay.
 *
 * @param signal looked at for the last time right before the file is replaced
 * @throws FileError, and the signal's reason
 */
export async function replaceFile(file: TextFile, text: string, signal: AbortSignal): Promise<void> {
  try {
    await publish(file.realPath, text, file, signal, (staged) => rename(staged, file.realPath));
  } catch (thrown) {
    throw FileError.of(thrown, file.realPath);
  }
}

/**
 * Makes a file, whole or not at all, and the directories to it. What somebody else makes there meanwhile stays.
 *
 * @throws FileError, and the signal's reason
 */
export async function createFile(path: string, text: string, signal: AbortSignal): Promise<void> {
  try {
    makeDirectories(dirname(path));
    await publish(path, text, undefined, signal, (staged) => claim(staged, path));
  } catch (thrown) {
    if (errorCode(thrown) === 'EEXIST') throw FileError.exists(path);
    throw errorCode(thrown) === 'ENOENT' ? FileError.notMade(path, thrown) : FileError.of(thrown, path);
  }
}

type Attributes = Pick<TextFile, 'mode' | 'uid' | 'gid'>;

/** @throws system errors, and the signal's reason */
async function publish(
  path: string,
  text: string,
  attributes: Attributes | undefined,
  signal: AbortSignal,
  place: (staged: string) => Promise<void>,
): Promise<void> {
  const staged = join(dirname(path), `.${basename(path).slice(0, MAX_NAME_HEAD)}.${randomUUID()}.tmp`);
  try {
    await stage(staged, text, attributes);
    signal.throwIfAborted();
    await place(staged);
  } catch (thrown) {
    await rm(staged, { force: true }).catch(() => undefined);
    throw thrown;
  }
}

async function stage(path: string, text: string, attributes: Attributes | undefined): Promise<void> {
  const handle = await open(path, 'wx', NEW_FILE_MODE);
  try {
    await handle.writeFile(text);
    if (attributes !== undefined) {
      // Owner first: changing it clears the set-id bits. Only root may, so others keep their own.
      await handle.chown(attributes.uid, attributes.gid).catch(() => undefined);
      await handle.chmod(attributes.mode);
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Gives the staged file its name, unless that is taken. */
async function claim(staged: string, path: string): Promise<void> {
  try {
    await link(staged, path);
  } catch (thrown) {
    if (errorCode(thrown) === 'EEXIST') throw thrown;
    // The file system has no hard links.
    await copyFile(staged, path, constants.COPYFILE_EXCL);
  }
  await rm(staged);
}
