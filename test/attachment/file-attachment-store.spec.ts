import { createHash } from 'node:crypto';
import { type NoParamCallback, readlinkSync } from 'node:fs';
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { expect } from 'chai';
import { array, assert, asyncProperty, uint8Array } from 'fast-check';
import { restore, stub } from 'sinon';
import { attachmentModule } from '../../src/attachment/attachment.module.js';
import { FileAttachmentConfig } from '../../src/attachment/file-attachment-config.js';
import { AttachmentStore, type InlineImage } from '../../src/attachment/index.js';
import { Scope } from '../../src/kernel/index.js';
import type { ImageAttachmentRef } from '../../src/protocol/index.js';
import { fsError, useFsFaults } from '../support/fs-faults.js';
import { imageBytes, paddedImage } from '../support/images.js';
import { rejectionOf } from '../support/rejection-of.js';
import { runs } from '../support/runs.js';
import { useTempDir } from '../support/temp-dir.js';

const inline = (bytes: Buffer, mediaType: InlineImage['mediaType'] = 'image/png'): InlineImage => ({
  data: bytes.toString('base64'),
  mediaType,
});
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describe('FileAttachmentStore', () => {
  const dir = useTempDir();
  const faults = useFsFaults();
  let scope: Scope;
  let store: AttachmentStore;
  const root = () => join(dir.path, 'deep', 'attachments');
  const pathOf = (bytes: Buffer) => join(root(), 'v1', 'objects', sha256(bytes).slice(0, 2), sha256(bytes));

  async function open(config: object = {}): Promise<{ scope: Scope; store: AttachmentStore }> {
    const opened = Scope.root('test');
    const { runtime } = await attachmentModule.configure({ root: root(), ...config });
    if (runtime !== undefined) await opened.load(runtime);
    return { scope: opened, store: opened.get(AttachmentStore) };
  }
  /** Every file below the root, by name. */
  async function files(): Promise<string[]> {
    const entries = await fs.readdir(root(), { recursive: true, withFileTypes: true }).catch(() => []);
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => entry.name)
      .sort();
  }
  /** Makes a call of `node:fs/promises` fail from its nth on. */
  function fail(name: 'open' | 'rename', nth: number, code: string): void {
    const real = fs[name] as (...args: unknown[]) => unknown;
    let calls = 0;
    stub(fs, name as 'rename').callsFake((async (...args: unknown[]) => {
      calls += 1;
      if (calls >= nth) throw fsError(code);
      return real(...args);
    }) as never);
    syncBuiltinESMExports();
  }

  beforeEach(async () => {
    ({ scope, store } = await open());
  });
  afterEach(async () => {
    restore();
    syncBuiltinESMExports();
    await scope.close();
  });

  it('gives back what was saved, in order, also to a later runtime', async () => {
    await assert(
      asyncProperty(array(uint8Array({ maxLength: 5000 }), { minLength: 1, maxLength: 5 }), async (tails) => {
        const images = tails.map((tail) => Buffer.concat([imageBytes('png', 20, 10), tail]));
        const references = await store.save(images.map((bytes) => inline(bytes)));
        const later = await open();
        for (const [index, reference] of references.entries()) {
          expect(await later.store.read(reference)).to.deep.equal(images[index]);
        }
        await later.scope.close();
      }),
      runs(20),
    );
  });

  it('names an object by its digest, for its owner only, and makes nothing before the first image', async () => {
    expect(await files()).to.deep.equal([]);
    const bytes = imageBytes('png', 3, 4);
    expect(await store.save([inline(bytes)])).to.deep.equal([
      { attachmentId: `sha256:${sha256(bytes)}`, mediaType: 'image/png', bytes: bytes.length, width: 3, height: 4 },
    ]);
    const path = pathOf(bytes);
    expect(await fs.readFile(path)).to.deep.equal(bytes);
    expect((await fs.stat(path)).mode & 0o777).to.equal(0o600);
    for (let at = dirname(path); at !== dir.path; at = dirname(at)) {
      expect((await fs.stat(at)).mode & 0o777, at).to.equal(0o700);
    }
    expect(await files()).to.deep.equal([basename(path)]);
  });

  it('stores the same bytes once: in a message, in later ones, and by two runtimes at once', async () => {
    const bytes = paddedImage('gif', 50_000);
    const image = inline(bytes, 'image/gif');
    const other = await open();
    const saved = await Promise.all([store.save([image, image]), other.store.save([image]), store.save([image])]);
    await other.scope.close();
    expect(new Set(saved.flat().map(({ attachmentId }) => attachmentId))).to.have.property('size', 1);
    const before = await fs.stat(pathOf(bytes));
    await store.save([image]);
    const after = await fs.stat(pathOf(bytes));
    expect([after.ino, after.mtimeMs]).to.deep.equal([before.ino, before.mtimeMs]);
    expect(await files()).to.deep.equal([sha256(bytes)]);
  });

  it('stores nothing of a message with one bad image', async () => {
    const message = [inline(imageBytes()), inline(imageBytes('png', 2, 2)), inline(imageBytes('png', 9000, 1))];
    expect(await rejectionOf(store.save(message))).to.include({ code: 'IMAGE_DIMENSION_TOO_LARGE' });
    expect(await files()).to.deep.equal([]);
  });

  for (const [call, nth] of [
    ['open', 2],
    ['rename', 1],
  ] as const) {
    it(`leaves nothing when the disk fails at ${call} ${nth}, and stores the same message later`, async () => {
      const message = [inline(imageBytes()), inline(imageBytes('png', 2, 2))];
      fail(call, nth, 'ENOSPC');
      const error = await rejectionOf(store.save(message));
      expect(error).to.include({ code: 'ATTACHMENT_WRITE_FAILED' });
      expect(error.message).to.equal(`images cannot be stored in ${root()}/v1/objects: ENOSPC: injected`);
      expect(error.cause).to.include({ code: 'ENOSPC' });
      expect(await files()).to.deep.equal([]);
      restore();
      syncBuiltinESMExports();
      expect(await store.save(message)).to.have.length(2);
    });
  }

  it('syncs an image before it has its name, and then every directory that has changed', async () => {
    const steps: string[] = [];
    const { open: openFile, rename } = fs;
    stub(fs, 'open').callsFake(async (path, ...rest) => {
      const file = await openFile(path, ...rest);
      stub(file, 'sync').callsFake(async () => void steps.push(`sync ${relative(dir.path, String(path))}`));
      return file;
    });
    faults.inject('fsync', (real) => (fd: number, done: NoParamCallback) => {
      steps.push(`sync ${relative(dir.path, readlinkSync(`/proc/self/fd/${fd}`))}`);
      real(fd, done);
    });
    stub(fs, 'rename').callsFake(async (from, to) => {
      steps.push(`rename ${relative(dir.path, String(to))}`);
      await rename(from, to);
    });
    syncBuiltinESMExports();
    const bytes = imageBytes();
    await store.save([inline(bytes)]);
    const digest = sha256(bytes);
    const objects = 'deep/attachments/v1/objects';
    const [first, ...others] = steps;
    expect(first).to.match(new RegExp(`^sync ${objects}/${digest.slice(0, 2)}/${digest}\\..*\\.tmp$`));
    expect(others).to.deep.equal([
      `rename ${objects}/${digest.slice(0, 2)}/${digest}`,
      `sync ${objects}/${digest.slice(0, 2)}`,
      `sync ${objects}`,
      'sync deep/attachments/v1',
      'sync deep/attachments',
      'sync deep',
      'sync ',
    ]);
  });

  it('says when its root cannot be used', async () => {
    await fs.mkdir(dirname(root()), { recursive: true });
    await fs.writeFile(root(), 'a file');
    const error = await rejectionOf(store.save([inline(imageBytes())]));
    expect(error).to.include({ code: 'ATTACHMENT_WRITE_FAILED' });
    expect(error.message).to.contain(root());
  });

  it('finishes what is being saved before it is closed', async () => {
    const bytes = paddedImage('png', 1_000_000);
    const saving = store.save([inline(bytes)]);
    await scope.close();
    expect(await files()).to.deep.equal([sha256(bytes)]);
    await saving;
  });

  describe('read', () => {
    const bytes = imageBytes('png', 5, 5);
    let reference: ImageAttachmentRef;
    beforeEach(async () => {
      [reference] = (await store.save([inline(bytes)])) as [ImageAttachmentRef];
    });

    const damages: readonly [string, (path: string) => Promise<unknown>, string][] = [
      ['a flipped bit', (path) => fs.writeFile(path, Buffer.from(bytes).fill(0, 40, 41)), 'ATTACHMENT_CORRUPT'],
      ['a cut', (path) => fs.truncate(path, 50), 'ATTACHMENT_CORRUPT'],
      ['a tail', (path) => fs.appendFile(path, 'x'), 'ATTACHMENT_CORRUPT'],
      ['a removal', (path) => fs.rm(path), 'ATTACHMENT_NOT_FOUND'],
      ['a directory in its place', (path) => fs.rm(path).then(() => fs.mkdir(path)), 'ATTACHMENT_READ_FAILED'],
    ];
    for (const [what, damage, code] of damages) {
      it(`notices ${what}: ${code}`, async () => {
        await damage(pathOf(bytes));
        const error = await rejectionOf(store.read(reference));
        expect(error).to.include({ code });
        expect(error.message).to.contain(sha256(bytes));
        // The same image again is a cure for a removal only: an object is never rewritten.
        const again = store.save([inline(bytes)]);
        if (code === 'ATTACHMENT_NOT_FOUND') expect(await again).to.deep.equal([reference]);
        else expect(await rejectionOf(again)).to.include({ code });
      });
    }

    const digest = 'a'.repeat(64);
    const foreign: readonly [string, object, string][] = [
      ['an unknown digest', { attachmentId: `sha256:${digest}` }, 'ATTACHMENT_NOT_FOUND'],
      ['another length', { bytes: 1 }, 'INVALID_ATTACHMENT_REF'],
      ['a digest in capitals', { attachmentId: `sha256:${digest.toUpperCase()}` }, 'INVALID_ATTACHMENT_REF'],
      ['another algorithm', { attachmentId: `sha512:${digest}` }, 'INVALID_ATTACHMENT_REF'],
      ['a path', { attachmentId: '../../../etc/passwd' }, 'INVALID_ATTACHMENT_REF'],
      ['a line behind the digest', { attachmentId: `sha256:${digest}\n` }, 'INVALID_ATTACHMENT_REF'],
      ['no id', { attachmentId: undefined }, 'INVALID_ATTACHMENT_REF'],
      ['another type', { mediaType: 'text/html' }, 'INVALID_ATTACHMENT_REF'],
    ];
    for (const [what, change, code] of foreign) {
      it(`refuses a reference with ${what}: ${code}`, async () => {
        const changed = { ...reference, ...change } as ImageAttachmentRef;
        expect(await rejectionOf(store.read(changed))).to.include({ code });
      });
    }
  });

  it('judges its config', async () => {
    const wrong = [{}, { root: '' }, { root: 'r', maxImages: 0 }, { root: 'r', maxPixels: '9' }, { root: 'r', max: 1 }];
    for (const config of wrong)
      expect((await rejectionOf(attachmentModule.configure(config))).name).to.equal('ConfigError');
    const tight = await open({ maxImages: 1 });
    const two = [inline(imageBytes()), inline(imageBytes())];
    expect(await rejectionOf(tight.store.save(two))).to.include({ code: 'TOO_MANY_IMAGES' });
    await tight.scope.close();
    expect(new FileAttachmentConfig()).to.have.property('maxImages', 20);
  });
});
