import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { makeDirectories } from '../../src/base/index.js';

describe('makeDirectories', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'dirs-test-'));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  it('makes what is missing with its mode, and tells the topmost', () => {
    const deepest = join(root, 'a', 'b', 'c');
    expect(makeDirectories(deepest, 0o700)).to.equal(join(root, 'a'));
    expect(statSync(deepest).mode & 0o777).to.equal(0o700);
    expect(makeDirectories(deepest)).to.equal(undefined);
    expect(makeDirectories(join(deepest, 'd'))).to.equal(join(deepest, 'd'));
  });

  it('ends where the file system takes no entries', () => {
    expect(() => makeDirectories('/proc/nope/a/b')).to.throw(/ENOENT|EACCES|EPERM/);
    expect(existsSync('/proc/nope')).to.equal(false);
  });
});
