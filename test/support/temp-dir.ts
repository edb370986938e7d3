import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A fresh directory for each test of the surrounding suite, removed after it. */
export function useTempDir(): { readonly path: string } {
  const dir = { path: '' };
  beforeEach(() => {
    dir.path = mkdtempSync(join(tmpdir(), 'dsh-test-'));
  });
  afterEach(() => rmSync(dir.path, { recursive: true, force: true }));
  return dir;
}
