import { resolve } from 'node:path';
import { loadProfile, type Profile, resolveHome } from '../profile/index.js';

/** What a command line says of the profile it is about. */
export interface ProfileChoice {
  readonly profile: string;
  /** Patch files, in order. */
  readonly patch?: readonly string[] | undefined;
}

/** The profile as the command line says it, with what was passed over told on stderr. Throws as `loadProfile` does. */
export async function chosenProfile({ profile: name, patch = [] }: ProfileChoice): Promise<Profile> {
  const profile = await loadProfile({
    name,
    home: resolveHome(process.env),
    patches: patch.map((file) => resolve(file)),
  });
  for (const warning of profile.warnings ?? []) process.stderr.write(`dsh: ${warning}\n`);
  return profile;
}
