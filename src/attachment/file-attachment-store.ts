import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { inject, injectable } from 'inversify';
import { CodedError, errorCode, toError } from '../base/index.js';
import { CurrentScope, type Scope } from '../kernel/index.js';
import type { ImageAttachmentRef } from '../protocol/index.js';
import { admitImages, attachmentIdOf, isImageMediaType } from './admission.js';
import type { AttachmentStore, InlineImage } from './attachment-store.js';
import { FileAttachmentConfig } from './file-attachment-config.js';
import { writeFiles } from './object-files.js';

/**
 * One file an image, `<root>/v1/objects/<2 hex>/<sha256>` (runtime §1). A file is written once and synced before its
 * reference is given out; images of the same bytes share it, and nothing removes it.
 */
@injectable()
export class FileAttachmentStore implements AttachmentStore {
  readonly #objects: string;
  readonly #saving = new Set<Promise<unknown>>();

  constructor(
    @inject(FileAttachmentConfig) private readonly config: FileAttachmentConfig,
    @inject(CurrentScope) scope: Scope,
  ) {
    this.#objects = join(resolve(config.root), 'v1', 'objects');
    scope.defer('attachments', async () => void (await Promise.allSettled(this.#saving)));
  }

  async save(images: readonly InlineImage[]): Promise<readonly ImageAttachmentRef[]> {
    const saving = this.#save(images);
    this.#saving.add(saving);
    try {
      return await saving;
    } finally {
      this.#saving.delete(saving);
    }
  }

  async read(reference: ImageAttachmentRef): Promise<Buffer> {
    const path = this.#pathOf(reference);
    const bytes = await this.#readObject(reference.attachmentId, path);
    if (bytes === undefined) {
      throw new CodedError('ATTACHMENT_NOT_FOUND', `image ${reference.attachmentId} is not stored in ${this.#objects}`);
    }
    if (bytes.length === reference.bytes) return bytes;
    throw invalidReference(`${reference.attachmentId} has ${bytes.length} bytes, not ${String(reference.bytes)}`);
  }

  async #save(images: readonly InlineImage[]): Promise<readonly ImageAttachmentRef[]> {
    const admitted = await admitImages(images, this.config);
    const missing = new Map<string, Buffer>();
    for (const { reference, bytes } of admitted) {
      const path = this.#pathOf(reference);
      if ((await this.#readObject(reference.attachmentId, path)) === undefined) missing.set(path, bytes);
    }
    try {
      await writeFiles(missing);
    } catch (thrown) {
      const message = `images cannot be stored in ${this.#objects}: ${toError(thrown).message}`;
      throw new CodedError('ATTACHMENT_WRITE_FAILED', message, { cause: thrown });
    }
    return admitted.map(({ reference }) => reference);
  }

  #pathOf({ attachmentId, mediaType }: ImageAttachmentRef): string {
    const [, digest] = /^sha256:([0-9a-f]{64})$/.exec(attachmentId) ?? [];
    if (digest === undefined) throw invalidReference(`${shown(attachmentId)} is not sha256: and 64 hex digits`);
    if (!isImageMediaType(mediaType))
      throw invalidReference(`${shown(mediaType)} is not a kind of image that is stored`);
    return join(this.#objects, digest.slice(0, 2), digest);
  }

  /** Undefined: not stored. @throws CodedError `ATTACHMENT_CORRUPT`, `ATTACHMENT_READ_FAILED` */
  async #readObject(attachmentId: string, path: string): Promise<Buffer | undefined> {
    let bytes: Buffer;
    try {
      bytes = await readFile(path);
    } catch (thrown) {
      const code = errorCode(thrown);
      if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
      const message = `image ${attachmentId} cannot be read: ${toError(thrown).message}`;
      throw new CodedError('ATTACHMENT_READ_FAILED', message, { cause: thrown });
    }
    if (attachmentIdOf(bytes) === attachmentId) return bytes;
    throw new CodedError(
      'ATTACHMENT_CORRUPT',
      `${path} does not hold the image of its name: remove the file, and send the image again`,
    );
  }
}

function invalidReference(problem: string): CodedError {
  return new CodedError('INVALID_ATTACHMENT_REF', `invalid image reference: ${problem}`);
}

function shown(value: unknown): string {
  return JSON.stringify(String(value).slice(0, 100));
}
