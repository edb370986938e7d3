import { expandHome } from '../base/index.js';

/** `$DSH_HOME` when it is not blank, else `~/.dsh`; `~`, `~/` and `~\` stand for the user's home. Absolute. */
export function resolveHome(env: Readonly<Record<string, string | undefined>>): string {
  const given = env.DSH_HOME?.trim();
  return expandHome(given === undefined || given === '' ? '~/.dsh' : given);
}
