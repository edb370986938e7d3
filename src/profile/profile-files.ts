import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CodedError, errorCode } from '../base/index.js';

/** Where the files of a home directory and its profiles are (runtime §1.3). */
export const profileFiles = {
  /** All user profiles. */
  root: (home: string): string => join(home, 'profiles'),
  /** What belongs to one profile, a shipped one's packages and patch included. */
  directory: (home: string, name: string): string => join(home, 'profiles', name),
  profile: (home: string, name: string): string => join(home, 'profiles', name, 'profile.yml'),
  patch: (home: string, name: string): string => join(home, 'profiles', name, 'patch.yml'),
  homePatch: (home: string): string => join(home, 'patch.yml'),
};

/** @throws CodedError `INVALID_PROFILE_NAME` */
export function checkProfileName(name: string): void {
  if (/^(?!\.{1,2}$|node_modules$)[^/\\\0]+$/.test(name)) return;
  throw new CodedError('INVALID_PROFILE_NAME', `${JSON.stringify(name)} is not a profile name`);
}

/** Names of the directories in a home's `profiles`, sorted. */
export async function profileDirectories(home: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(profileFiles.root(home), { withFileTypes: true });
    return entries.flatMap((entry) => (entry.isFile() || entry.name === 'node_modules' ? [] : [entry.name])).sort();
  } catch (thrown) {
    if (errorCode(thrown) === 'ENOENT') return [];
    throw thrown;
  }
}
