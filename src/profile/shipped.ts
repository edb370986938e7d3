import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { packageInfo, readSmallFile } from '../base/index.js';
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
export function readShippedProfile(name: string): ProfileSource | undefined {
  const text = readSmallFile(join(directory(), `${name}.json`));
  return text === undefined ? undefined : (JSON.parse(text) as ProfileSource);
}

/** The build compiles `config/profiles/*.yml` to JSON, so that a start parses no YAML. */
function directory(): string {
  return join(packageInfo().root, 'dist', 'profiles');
}
