import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where this package is installed, and the version in its `package.json`. */
export interface PackageInfo {
  /** Absolute directory of this package's `package.json`. */
  readonly root: string;
  readonly version: string;
}

let found: PackageInfo | undefined;

/** This package as it is installed, found upwards from this file; the same from compiled files and from the bundle. */
export function packageInfo(): PackageInfo {
  found ??= find(dirname(fileURLToPath(import.meta.url)));
  return found;
}

function find(from: string): PackageInfo {
  for (let at = from; ; at = dirname(at)) {
    const file = join(at, 'package.json');
    if (existsSync(file)) {
      const { name, version } = JSON.parse(readFileSync(file, 'utf8')) as { name?: string; version?: string };
      if (name === 'dsh-inversify' && version !== undefined) return { root: at, version };
    }
    if (dirname(at) === at) throw new Error(`package.json of dsh-inversify was not found above ${from}`);
  }
}
