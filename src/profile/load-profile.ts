import { CodedError, isObject } from '../base/index.js';
import { type PatchOperation, parsePatch, parseRows } from './patch.js';
import type { Profile } from './profile.js';
import { checkProfileName, profileDirectories, profileFiles } from './profile-files.js';
import { RowList } from './row-list.js';
import { type ProfileSource, readShippedProfile, shippedProfiles } from './shipped.js';
import { readYamlFile } from './yaml-file.js';

/** What is put together. */
export interface ProfileRequest {
  readonly name: string;
  /** The home directory, absolute. */
  readonly home: string;
  /** On top of all else, in order: absolute paths of files, or operations made in code. Default: none. */
  readonly patches?: readonly (string | readonly PatchOperation[])[];
}

const SOURCE_KEYS = ['description', 'extends', 'rows'];

/**
 * A profile with its layers applied in order: what it extends, its rows, its own patch, the home's patch, `patches`
 * (runtime §1.4, 1.5; decision 35). Patches on rows that are not there are passed over, and told in `warnings`.
 *
 * @throws CodedError `INVALID_PROFILE_NAME`, `UNKNOWN_PROFILE`, `INVALID_PROFILE`, `INVALID_PATCH`, `INVALID_YAML`,
 *   `MISSING_PATCH`; the message names the file, and what in it
 */
export async function loadProfile({ name, home, patches = [] }: ProfileRequest): Promise<Profile> {
  checkProfileName(name);
  const loader = new ProfileLoader(home, true);
  const { description, isShipped } = await loader.add(name);
  if (isShipped) await loader.applyFile(profileFiles.patch(home, name));
  await loader.applyFile(profileFiles.homePatch(home));
  await loader.applyAll(patches);
  return profileOf(name, description, loader.list);
}

/** As {@link loadProfile}, without any patch: what is dumped when a patch is broken (runtime §1.11). */
export async function loadDefaultProfile({ name, home }: Omit<ProfileRequest, 'patches'>): Promise<Profile> {
  checkProfileName(name);
  const loader = new ProfileLoader(home, false);
  const { description } = await loader.add(name);
  return profileOf(name, description, loader.list);
}

/** A profile that was made in code, with patches on top. Throws as {@link loadProfile} does. */
export async function patchProfile(profile: Profile, patches: ProfileRequest['patches'] = []): Promise<Profile> {
  if (patches.length === 0) return profile;
  const loader = new ProfileLoader('', false);
  loader.list.add(profile.rows, profile.name);
  await loader.applyAll(patches);
  return profileOf(profile.name, profile.description, loader.list);
}

/** Names that {@link loadProfile} knows: the shipped ones, and those of the home that have a `profile.yml`. */
export async function knownProfiles(
  home: string,
): Promise<{ readonly shipped: readonly string[]; readonly own: readonly string[] }> {
  const shipped = await shippedProfiles();
  const directories = await profileDirectories(home);
  const files = await Promise.all(
    directories.map((name) => readYamlFile(profileFiles.profile(home, name)).catch(() => null)),
  );
  const own = directories.filter((name, index) => files[index] !== undefined && !shipped.includes(name));
  return { shipped, own };
}

class ProfileLoader {
  readonly list = new RowList();

  /** @param patched whether what is extended brings its own patch */
  constructor(
    private readonly home: string,
    private readonly patched: boolean,
  ) {}

  /** Adds the rows of a profile and of what it extends. */
  async add(
    name: string,
    chain: readonly string[] = [],
  ): Promise<{ readonly description: string | undefined; readonly isShipped: boolean }> {
    const file = profileFiles.profile(this.home, name);
    if (chain.includes(name)) {
      throw new CodedError('INVALID_PROFILE', `${file}: profiles extend each other: ${[...chain, name].join(' → ')}`);
    }
    const shipped = readShippedProfile(name);
    const found = await readYamlFile(file);
    if (shipped !== undefined && found !== undefined) {
      const advice = `change it with ${profileFiles.patch(this.home, name)}, or give yours another name`;
      throw new CodedError(
        'INVALID_PROFILE',
        `${file}: ${JSON.stringify(name)} is the name of a shipped profile: ${advice}`,
      );
    }
    const source = shipped ?? (found === undefined ? await this.#unknown(name, chain) : parseSource(found, file));
    if (source.extends !== undefined) await this.add(source.extends, [...chain, name]);
    this.list.add(source.rows, shipped === undefined ? file : name);
    const isShipped = shipped !== undefined;
    if (!isShipped && this.patched) await this.applyFile(profileFiles.patch(this.home, name));
    return { description: source.description, isShipped };
  }

  /** @param required whether a file that is not there is an error, and not just no layer */
  async applyFile(file: string, required = false): Promise<void> {
    const value = await readYamlFile(file);
    if (value !== undefined) this.list.apply(parsePatch(value, file, file));
    else if (required) throw new CodedError('MISSING_PATCH', `there is no patch ${file}`);
  }

  async applyAll(patches: Required<ProfileRequest>['patches']): Promise<void> {
    for (const [index, patch] of patches.entries()) {
      if (typeof patch === 'string') await this.applyFile(patch, true);
      else this.list.apply(parsePatch(patch, `patch ${index + 1} in code`));
    }
  }

  async #unknown(name: string, chain: readonly string[]): Promise<never> {
    const { shipped, own } = await knownProfiles(this.home);
    const yours = own.length === 0 ? '' : `; in ${profileFiles.root(this.home)}: ${own.join(', ')}`;
    const whose = chain.length === 0 ? '' : `, which ${profileFiles.profile(this.home, chain.at(-1) ?? '')} extends`;
    const advice = `to make one: dsh --profile ${name} --from-default-profile sdk, or dsh plugin --profile ${name} add PACKAGE`;
    throw new CodedError(
      'UNKNOWN_PROFILE',
      `there is no profile ${JSON.stringify(name)}${whose}; shipped profiles: ${shipped.join(', ')}${yours}; ${advice}`,
    );
  }
}

/** The content of a `profile.yml`. */
function parseSource(value: unknown, file: string): ProfileSource {
  const invalid = (problem: string): CodedError => new CodedError('INVALID_PROFILE', `${file}: ${problem}`);
  if (!isObject(value)) throw invalid(`a profile is a mapping with ${SOURCE_KEYS.join(', ')}`);
  const extra = Object.keys(value).find((key) => !SOURCE_KEYS.includes(key));
  if (extra !== undefined) throw invalid(`${JSON.stringify(extra)} is unknown; allowed: ${SOURCE_KEYS.join(', ')}`);
  const { description, extends: parent, rows = [] } = value;
  if (description !== undefined && typeof description !== 'string') throw invalid('description must be a string');
  if (parent !== undefined && typeof parent !== 'string') throw invalid('extends must be the name of a profile');
  if (parent === undefined && value.rows === undefined) throw invalid('a profile needs rows, or extends');
  if (parent !== undefined) checkProfileName(parent);
  return {
    rows: parseRows(rows, file, 'rows', file),
    ...(description !== undefined && { description }),
    ...(parent !== undefined && { extends: parent }),
  };
}

function profileOf(name: string, description: string | undefined, { rows, history, warnings }: RowList): Profile {
  return { name, ...(description !== undefined && { description }), rows, history, warnings };
}
