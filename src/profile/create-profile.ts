import { mkdir, rm, writeFile } from 'node:fs/promises';
import { CodedError, errorCode } from '../base/index.js';
import { checkProfileName, profileFiles } from './profile-files.js';
import { shippedProfiles } from './shipped.js';

/**
 * Makes a user profile that extends a shipped one (runtime §1.4). Of two who try at once one does; nothing is left of
 * one that failed.
 *
 * @param home the home directory, absolute
 * @throws CodedError `INVALID_PROFILE_NAME`, `UNKNOWN_TEMPLATE`, `PROFILE_EXISTS`
 */
export async function createProfile(home: string, name: string, template: string): Promise<void> {
  checkProfileName(name);
  const shipped = await shippedProfiles();
  if (!shipped.includes(template)) {
    const known = shipped.join(', ');
    throw new CodedError('UNKNOWN_TEMPLATE', `there is no template ${JSON.stringify(template)}; there are ${known}`);
  }
  if (shipped.includes(name)) {
    throw new CodedError('PROFILE_EXISTS', `${JSON.stringify(name)} is a shipped profile: give yours another name`);
  }
  const directory = profileFiles.directory(home, name);
  await mkdir(profileFiles.root(home), { recursive: true });
  try {
    await mkdir(directory);
  } catch (thrown) {
    if (errorCode(thrown) !== 'EEXIST') throw thrown;
    throw new CodedError('PROFILE_EXISTS', `there is a profile ${JSON.stringify(name)} already: ${directory}`);
  }
  try {
    await writeFile(profileFiles.profile(home, name), contentOf(template), { flag: 'wx' });
  } catch (thrown) {
    await rm(directory, { recursive: true, force: true });
    throw thrown;
  }
}

function contentOf(template: string): string {
  return `# Rows below are added to those of ${template}; what changes them belongs into patch.yml beside this file.
extends: ${template}
rows: []
`;
}
