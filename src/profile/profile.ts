import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CodedError, errorCode, packageInfo } from '../base/index.js';

/** One part of a profile: a module and its config, before interpolation. */
export interface Row {
  /** Unique in the profile; an interface that patches name. */
  readonly id: string;
  /** Name in the module catalog. */
  readonly module: string;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly disabled?: boolean;
}

/** An ordered list of rows: what a runtime is made of. Order is binding order is contribution order. */
export interface Profile {
  readonly name: string;
  readonly description?: string;
  readonly rows: readonly Row[];
}

/** Names of the shipped profiles, sorted. */
export async function shippedProfiles(): Promise<readonly string[]> {
  const files = await readdir(profileDirectory());
  return files.map((file) => file.replace(/\.json$/, '')).sort();
}

/** @throws CodedError `INVALID_PROFILE_NAME`, `UNKNOWN_PROFILE` listing what is shipped */
export async function loadProfile(name: string): Promise<Profile> {
  if (!/^(?!\.{1,2}$|node_modules$)[^/\\]+$/.test(name)) {
    throw new CodedError('INVALID_PROFILE_NAME', `${JSON.stringify(name)} is not a profile name`);
  }
  try {
    const text = await readFile(join(profileDirectory(), `${name}.json`), 'utf8');
    return { name, ...(JSON.parse(text) as Omit<Profile, 'name'>) };
  } catch (thrown) {
    if (errorCode(thrown) !== 'ENOENT') throw thrown;
    const known = (await shippedProfiles()).join(', ');
    throw new CodedError('UNKNOWN_PROFILE', `there is no profile ${JSON.stringify(name)}; shipped profiles: ${known}`);
  }
}

/** The build compiles `config/profiles/*.yml` to JSON, so that a start parses no YAML. */
function profileDirectory(): string {
  return join(packageInfo().root, 'dist', 'profiles');
}
