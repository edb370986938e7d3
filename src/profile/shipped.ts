import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, packageInfo } from '../base/index.js';
import type { Row } from './profile.js';

/** A profile before its layers are put together. */
export interface ProfileSource {
  readonly description?: string;
  /** Whose rows come first. */
  readonly extends?: string;
  readonly rows: readonly Row[];
}

/** Names of the shipped profiles, sorted. */
export async function shippedProfiles(): Promise<readonly string[]> {
  const files = await readdir(directory());
  return files.map((file) => file.replace(/\.json$/, '')).sort();
}

/** Undefined when no such profile is shipped. */
export async function readShippedProfile(name: string): Promise<ProfileSource | undefined> {
  try {
    return JSON.parse(await readFile(join(directory(), `${name}.json`), 'utf8')) as ProfileSource;
  } catch (thrown) {
    if (errorCode(thrown) === 'ENOENT') return undefined;
    throw thrown;
  }
}

/** The build compiles `config/profiles/*.yml` to JSON, so that a start parses no YAML. */
function directory(): string {
  return join(packageInfo().root, 'dist', 'profiles');
}
