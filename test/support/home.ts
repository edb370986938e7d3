import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { useTempDir } from './temp-dir.js';

/** A home directory for each test, whose files a test writes. */
export interface TestHome {
  readonly path: string;
  /** Writes a file below it. @returns its path */
  write(name: string, text: string): string;
}

export function useHome(): TestHome {
  const dir = useTempDir();
  return {
    get path() {
      return dir.path;
    },
    write(name, text) {
      const file = join(dir.path, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      return file;
    },
  };
}
