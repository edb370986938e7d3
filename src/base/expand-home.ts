import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** `path` made absolute; a leading `~`, `~/` or `~\` stands for the user's home. */
export function expandHome(path: string): string {
  return resolve(/^~(?=$|[\\/])/.test(path) ? join(homedir(), path.slice(1)) : path);
}
