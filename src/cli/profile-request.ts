import { resolve } from 'node:path';
import { loadProfile, type Profile, readEnvFiles, resolveHome } from '../profile/index.js';

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

/**
 * Gives this process what the `.env` files of its directory and its home add (runtime §1.7).
 *
 * @throws CodedError `REFUSED_VARIABLE`
 */
export async function applyEnvFiles(): Promise<void> {
  const { values, warnings } = await readEnvFiles(process.env, process.cwd(), resolveHome(process.env));
  for (const warning of warnings) process.stderr.write(`dsh: ${warning}\n`);
  Object.assign(process.env, values);
}
