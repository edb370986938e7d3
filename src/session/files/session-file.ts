import { randomBytes } from 'node:crypto';
import { closeSync, linkSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorCode, makeDirectories, piecesOf, toError } from '../../base/index.js';
import { SessionStoredError } from '../errors.js';

const DIRECTORY_MODE = 0o700;
/** Session files are for their owner only. */
export const FILE_MODE = 0o600;
/** Characters written at once: a long line, or a backlog of any size, costs no second copy of itself. */
const WRITE_CHARS = 256 * 1024;
const MAX_BYTES_PER_CHAR = 3;
/**
 * Makes a session's directory and those above it, for their owner only.
 *
 * @returns the directories whose entries are new or may be, to be synced in this order
 */
export function makeSessionDirectory(directory: string, root: string): readonly string[] {
  const topmost = makeDirectories(directory, DIRECTORY_MODE);
  return ancestry(directory, topmost === undefined ? root : dirname(topmost), root);
}

/** A name beside `path` that nobody else writes to. */
export function temporaryName(path: string): string {
  return `${path}.${randomBytes(6).toString('hex')}.tmp`;
}

/**
 * Makes a log whole or not at all: private temporary file, hard link to its name, which never overwrites (core §4.5).
 *
 * @returns the file, open for appending
 * @throws SessionStoredError another writer was first
 */
export function createSessionFile(
  id: string,
  path: string,
  lines: Iterable<string>,
): { readonly fd: number; readonly bytes: number } {
  const temporary = temporaryName(path);
  const fd = openSync(temporary, 'ax', FILE_MODE);
  try {
    const bytes = writeLines(fd, lines);
    linkSession(id, temporary, path);
    return { fd, bytes };
  } catch (thrown) {
    throw undone(thrown, [() => closeSync(fd), () => unlinkSync(temporary)]);
  }
}

/**
 * Gives a file that is whole its name, which must be free, and takes the temporary one away.
 *
 * @throws SessionStoredError the name is taken
 */
export function linkSession(id: string, temporary: string, path: string): void {
  try {
    linkSync(temporary, path);
  } catch (thrown) {
    throw errorCode(thrown) === 'EEXIST' ? new SessionStoredError(id) : thrown;
  }
  removeQuietly(temporary);
}

/** Appends lines, each with its newline. @returns the number of bytes */
export function writeLines(fd: number, lines: Iterable<string>): number {
  let bytes = 0;
  let text = '';
  for (const line of lines) {
    if (line.length > WRITE_CHARS) {
      bytes += writeAll(fd, Buffer.from(text)) + writeLong(fd, line);
      text = '\n';
      continue;
    }
    text += `${line}\n`;
    if (text.length < WRITE_CHARS) continue;
    bytes += writeAll(fd, Buffer.from(text));
    text = '';
  }
  return bytes + writeAll(fd, Buffer.from(text));
}

/** Runs the undoing steps, past failures. @returns the error to throw: the first one, with what failed after it */
export function undone(thrown: unknown, steps: readonly (() => void)[]): Error {
  const failures: Error[] = [];
  for (const step of steps) {
    try {
      step();
    } catch (failure) {
      failures.push(toError(failure));
    }
  }
  const cause = toError(thrown);
  if (failures.length === 0) return cause;
  const also = failures.map(({ message }) => message).join('; ');
  return new AggregateError([cause, ...failures], `${cause.message}; undoing it failed as well: ${also}`);
}

function writeLong(fd: number, line: string): number {
  const piece = Buffer.allocUnsafeSlow(WRITE_CHARS * MAX_BYTES_PER_CHAR);
  let bytes = 0;
  for (const text of piecesOf(line, WRITE_CHARS)) bytes += writeAll(fd, piece.subarray(0, piece.write(text)));
  return bytes;
}

function writeAll(fd: number, bytes: Buffer): number {
  for (let at = 0; at < bytes.length; ) {
    const written = writeSync(fd, bytes, at);
    if (written === 0) throw new Error(`the file system took ${at} of ${bytes.length} bytes`);
    at += written;
  }
  return bytes.length;
}

/** The log is whole under its own name by now: a second name left over harms nobody. */
function removeQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {}
}

/** From `directory` up to whichever of the two ends is higher. */
function ancestry(directory: string, oneEnd: string, otherEnd: string): string[] {
  const end = oneEnd.length < otherEnd.length ? oneEnd : otherEnd;
  const directories = [directory];
  for (let at = directory; at !== end && at !== dirname(at); at = dirname(at)) directories.push(dirname(at));
  return directories;
}
