import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { packageInfo } from '../../src/base/index.js';

/** A recorded session of two turns in `/workspace`: a retried call, packed rows, 67 events, 5 model calls. */
export const TWO_TURNS = join(packageInfo().root, 'test', 'fixtures', 'logs', 'two-turns.jsonl');

/** Puts {@link TWO_TURNS} into a session root under an id (of letters and digits). @returns the path of the log */
export async function storeLog(
  root: string,
  id: string,
  change: (lines: readonly string[]) => readonly string[] = (lines) => lines,
): Promise<string> {
  const path = join(root, '--workspace--', id, 'session.jsonl');
  const lines = (await readFile(TWO_TURNS, 'utf8')).replace('"id":"recorded"', `"id":"${id}"`).trimEnd().split('\n');
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${change(lines).join('\n')}\n`);
  return path;
}
