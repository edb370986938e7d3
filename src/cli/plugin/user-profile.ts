import { errorCode } from '../../base/index.js';
import { createProfile, loadProfile, type Profile, profileFiles, resolveHome } from '../../profile/index.js';
import { ProfilePackages } from './profile-packages.js';

/** A profile as `dsh plugin` works on it. */
export interface UserProfile {
  readonly packages: ProfilePackages;
  /** Its patch file, which need not exist. */
  readonly patch: string;
  /** Ids of all rows it has now. */
  readonly ids: readonly string[];
}

/**
 * A shipped profile, whose packages and patch are in the home directory, or one of the user's.
 *
 * @param create makes one that is not there, which then extends `sdk`
 * @throws what `loadProfile` throws
 */
export async function openProfile(name: string, { create }: { readonly create: boolean }): Promise<UserProfile> {
  const home = resolveHome(process.env);
  const { rows } = await loadOrCreate(name, home, create);
  return {
    packages: new ProfilePackages(profileFiles.directory(home, name)),
    patch: profileFiles.patch(home, name),
    ids: rows.map(({ id }) => id),
  };
}

async function loadOrCreate(name: string, home: string, create: boolean): Promise<Profile> {
  try {
    return await loadProfile({ name, home });
  } catch (thrown) {
    if (!create || errorCode(thrown) !== 'UNKNOWN_PROFILE') throw thrown;
    await createProfile(home, name, 'sdk');
    return loadProfile({ name, home });
  }
}
