import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** The first session log under a home, if there is one. */
export async function findSessionLog(home: string): Promise<string | undefined> {
  const root = join(home, 'sessions');
  const files = await readdir(root, { recursive: true }).catch(() => []);
  const log = files.find((file) => file.endsWith('session.jsonl'));
  return log === undefined ? undefined : join(root, log);
}
