import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CodedError, describeError, errorCode } from '../../base/index.js';

/** The npm side of a profile's directory: a private package whose dependencies are the profile's plugins. */
export class ProfilePackages {
  readonly #manifest: string;

  /** @param directory of the profile, absolute */
  constructor(readonly directory: string) {
    this.#manifest = join(directory, 'package.json');
  }

  /** Makes the directory and its manifest where they are missing; what is there stays as it is. */
  async create(): Promise<void> {
    await mkdir(this.directory, { recursive: true });
    // Peers of a plugin come from the running dsh; npm would look for them in its registry.
    await this.#writeNew(join(this.directory, '.npmrc'), 'legacy-peer-deps=true\n');
    await this.#writeNew(this.#manifest, `${JSON.stringify({ private: true, dependencies: {} }, null, 2)}\n`);
  }

  /**
   * What is saved in the manifest: npm's own spec by package name. Empty when there is no manifest.
   *
   * @throws CodedError `INVALID_MANIFEST` naming the file
   */
  async saved(): Promise<ReadonlyMap<string, string>> {
    const manifest = await this.#read(this.#manifest);
    return new Map(Object.entries((manifest?.dependencies ?? {}) as Record<string, string>));
  }

  /** The version that is installed; undefined when the package is not there. */
  async installedVersion(name: string): Promise<string | undefined> {
    const manifest = await this.#read(join(this.directory, 'node_modules', name, 'package.json'));
    return manifest?.version === undefined ? undefined : String(manifest.version);
  }

  async #read(file: string): Promise<Record<string, unknown> | undefined> {
    let text: string;
    try {
      text = await readFile(file, 'utf8');
    } catch (thrown) {
      if (errorCode(thrown) === 'ENOENT') return undefined;
      throw thrown;
    }
    try {
      const manifest: unknown = JSON.parse(text);
      if (typeof manifest === 'object' && manifest !== null && !Array.isArray(manifest)) {
        return manifest as Record<string, unknown>;
      }
      throw new Error('it holds no JSON object');
    } catch (thrown) {
      throw new CodedError('INVALID_MANIFEST', `${file} cannot be used: ${describeError(thrown)}`);
    }
  }

  async #writeNew(file: string, text: string): Promise<void> {
    try {
      await writeFile(file, text, { flag: 'wx' });
    } catch (thrown) {
      if (errorCode(thrown) !== 'EEXIST') throw thrown;
    }
  }
}
