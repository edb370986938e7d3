import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { FileError } from './file-errors.js';

const DEPTH = 2;
const LEFT_OUT = new Set(['node_modules', '__pycache__']);

interface Row {
  readonly path: string;
  readonly kind: 'd' | 'f' | '?';
}

/**
 * What is in a directory and its subdirectories, as rows of `d`, `f` or `?`, a tab and the path, sorted by code unit.
 * Symbolic links are `?` and not followed; a subdirectory that cannot be read is shown without its contents.
 *
 * @throws FileError, and the signal's reason
 */
export async function listDirectory(path: string, signal: AbortSignal): Promise<readonly string[]> {
  let rows: readonly Row[];
  try {
    rows = await list(path, DEPTH, signal);
  } catch (thrown) {
    throw FileError.of(thrown, path);
  }
  return [...rows].sort((a, b) => (a.path < b.path ? -1 : 1)).map((row) => `${row.kind}\t${row.path}`);
}

async function list(directory: string, depth: number, signal: AbortSignal): Promise<readonly Row[]> {
  const entries = (await readdir(directory, { withFileTypes: true })).filter(
    ({ name }) => !name.startsWith('.') && !LEFT_OUT.has(name),
  );
  const rows: Row[] = [];
  for (const entry of entries) {
    signal.throwIfAborted();
    const path = join(directory, entry.name);
    rows.push({ path, kind: kindOf(entry) });
    if (entry.isDirectory() && depth > 1) rows.push(...(await list(path, depth - 1, signal).catch(() => [])));
  }
  return rows;
}

function kindOf(entry: Dirent): Row['kind'] {
  if (entry.isDirectory()) return 'd';
  return entry.isFile() ? 'f' : '?';
}
