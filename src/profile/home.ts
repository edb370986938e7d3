import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** `$DSH_HOME` when it is not blank, else `~/.dsh`; `~`, `~/` and `~\` stand for the user's home. Absolute. */
export function resolveHome(env: Readonly<Record<string, string | undefined>>): string {
  const given = env.DSH_HOME?.trim();
  if (given === undefined || given === '') return join(homedir(), '.dsh');
  return resolve(given === '~' || /^~[/\\]/.test(given) ? join(homedir(), given.slice(1)) : given);
}
