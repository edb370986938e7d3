import { readFile, realpath, stat } from 'node:fs/promises';
import { FileError } from './file-errors.js';

/** Larger files are refused: an edit holds the whole text in memory, more than once. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Where a NUL byte tells a binary file. */
const BINARY_PROBE_BYTES = 8192;

/** A text file as it was read. */
export interface TextFile {
  /** Behind all symbolic links. */
  readonly realPath: string;
  readonly text: string;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/**
 * Reads a regular file of UTF-8; a byte order mark is part of the text.
 *
 * @throws FileError `FS_NOT_FOUND`, `FS_NOT_REGULAR_FILE`, `FS_NOT_TEXT`, `FS_TOO_LARGE` and those of the system
 */
export async function readTextFile(path: string): Promise<TextFile> {
  try {
    const realPath = await realpath(path);
    // Before it is opened: that would wait for the other end of a FIFO.
    const stats = await stat(realPath);
    if (!stats.isFile()) throw FileError.notRegular(path, stats.isDirectory() ? 'a directory' : 'a special file');
    if (stats.size > MAX_BYTES) throw FileError.tooLarge(path, stats.size, MAX_BYTES);
    const text = decode(path, await readFile(realPath));
    return { realPath, text, mode: stats.mode & 0o7777, uid: stats.uid, gid: stats.gid };
  } catch (thrown) {
    throw FileError.of(thrown, path);
  }
}

function decode(path: string, bytes: Uint8Array): string {
  if (bytes.subarray(0, BINARY_PROBE_BYTES).includes(0)) throw FileError.notText(path, 'it holds NUL bytes');
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw FileError.notText(path, 'it holds bytes that are not UTF-8');
  }
}
