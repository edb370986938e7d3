import {
  applyEnvFiles,
  dumpProfile,
  loadDefaultProfile,
  ProfileModules,
  remarksOf,
  resolveHome,
} from '../profile/index.js';
import { chosenProfile, type ProfileChoice } from './profile-request.js';

/**
 * What `--dump-config` and `--dump-default-config` print (runtime §1.11): the profile with its layers, or without any
 * patch, which a broken one cannot spoil.
 */
export async function dumpedProfile(kind: 'composed' | 'default', choice: ProfileChoice): Promise<string> {
  applyEnvFiles();
  const { env } = process;
  const home = resolveHome(env);
  if (kind === 'default') return dumpProfile(await loadDefaultProfile({ name: choice.profile, home }));
  const profile = await chosenProfile(choice);
  return dumpProfile(profile, await remarksOf(profile, new ProfileModules(), { env, home }));
}
