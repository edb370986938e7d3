import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** The first session log under a home. */
export async function findSessionLog(home: string): Promise<string | undefined> {
  const root = join(home, 'sessions');
  const files = await readdir(root, { recursive: true });
  const log = files.find((file) => file.endsWith('session.jsonl'));
  return log === undefined ? undefined : join(root, log);
}
