import { constants } from 'node:fs';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { FileError } from './file-errors.js';

/** Larger files are refused: an edit holds the whole text in memory, more than once. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Read at once of a file that does not tell its size. */
const CHUNK_BYTES = 64 * 1024;
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
 * Files of the kernel's, as in `/proc`, are read as far as they go at once: one that would wait for what is to come is
 * refused.
 *
 * @throws FileError `FS_NOT_FOUND`, `FS_NOT_REGULAR_FILE`, `FS_NOT_TEXT`, `FS_TOO_LARGE` and those of the system
 * @throws the signal's reason
 */
export async function readTextFile(path: string, signal: AbortSignal): Promise<TextFile> {
  try {
    const realPath = await realpath(path);
    // Before it is opened: opening a device may do things.
    const stats = await stat(realPath);
    if (!stats.isFile()) throw FileError.notRegular(path, stats.isDirectory() ? 'a directory' : 'a special file');
    if (stats.size > MAX_BYTES) throw FileError.tooLarge(path, stats.size, MAX_BYTES);
    const text = decode(path, await readBytes(path, realPath, stats.size, signal));
    return { realPath, text, mode: stats.mode & 0o7777, uid: stats.uid, gid: stats.gid };
  } catch (thrown) {
    throw FileError.of(thrown, path);
  }
}

async function readBytes(path: string, realPath: string, size: number, signal: AbortSignal): Promise<Uint8Array> {
  const handle = await open(realPath, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return await readToEnd(path, handle, size, signal);
  } finally {
    await handle.close();
  }
}

/** The size is what to expect: a file may grow, and one of the kernel's says 0. */
async function readToEnd(path: string, handle: FileHandle, size: number, signal: AbortSignal): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for (let total = 0; ; ) {
    signal.throwIfAborted();
    const chunk = Buffer.allocUnsafe(Math.max(size - total + 1, CHUNK_BYTES));
    const { bytesRead } = await handle.read(chunk);
    if (bytesRead === 0) return chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks);
    chunks.push(chunk.subarray(0, bytesRead));
    total += bytesRead;
    if (total > MAX_BYTES) throw FileError.tooLarge(path, total, MAX_BYTES);
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
