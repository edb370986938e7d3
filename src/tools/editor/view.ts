import { stat } from 'node:fs/promises';
import { headOf } from '../../base/index.js';
import { InvalidArgsError } from '../../tool/index.js';
import { listDirectory } from './directory-listing.js';
import type { EditorArgs } from './editor-args.js';
import { FileError } from './file-errors.js';
import { readTextFile } from './text-file.js';

type Range = readonly [number, number];
const LINE_NUMBER_WIDTH = 6;

/**
 * Shows a file with its lines numbered, or the names in a directory; the head of it, up to `maxChars`.
 *
 * @throws FileError, and the signal's reason
 * @throws InvalidArgsError a range outside the file, or one for a directory
 */
export async function view(
  path: string,
  { view_range }: EditorArgs,
  maxChars: number,
  signal: AbortSignal,
): Promise<string> {
  const text = (await isDirectory(path))
    ? await viewDirectory(path, view_range, signal)
    : await viewFile(path, view_range, signal);
  if (text.length <= maxChars) return text;
  return `${headOf(text, maxChars)}\n[view clipped: only the beginning of ${text.length} characters; use view_range, or search with grep -n]`;
}

async function viewFile(path: string, range: Range | undefined, signal: AbortSignal): Promise<string> {
  const { text } = await readTextFile(path, signal);
  const lines = text.split('\n');
  const [first, last] = range === undefined ? [1, lines.length] : checked(range, lines.length);
  const shown = lines
    .slice(first - 1, last)
    .map((line, index) => `${String(first + index).padStart(LINE_NUMBER_WIDTH)}  ${line}`);
  const count = lines.length === 1 ? '1 line' : `${lines.length} lines`;
  const header = range === undefined ? `${path} (${count})` : `${path} (${count}, showing ${first}-${last})`;
  return [header, ...shown].join('\n');
}

function checked([first, last]: Range, count: number): Range {
  if (first < 1 || first > count) {
    throw new InvalidArgsError(`view_range[0] is ${first}, it must be between 1 and ${count}, the number of lines`);
  }
  if (last === -1) return [first, count];
  if (last > count) {
    throw new InvalidArgsError(`view_range[1] is ${last}, it must not exceed ${count}, the number of lines`);
  }
  if (last < first) {
    throw new InvalidArgsError(`view_range[1] is ${last}, it must be -1 or at least ${first}, as view_range[0]`);
  }
  return [first, last];
}

async function viewDirectory(path: string, range: Range | undefined, signal: AbortSignal): Promise<string> {
  if (range !== undefined) throw new InvalidArgsError(`view_range is for files, and ${path} is a directory`);
  const rows = await listDirectory(path, signal);
  return [`${path}, two levels deep, without hidden names, node_modules and __pycache__:`, ...rows].join('\n');
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (thrown) {
    throw FileError.of(thrown, path);
  }
}
