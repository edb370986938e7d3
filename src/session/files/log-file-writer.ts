import { type FileHandle, open, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncDirectory } from '../../base/index.js';
import { compressor, type LogForm } from './log-compression.js';
import { FILE_MODE, linkSession, temporaryName } from './session-file.js';
import type { StoredLogFile } from './session-place.js';

/** Text that becomes one write, and where compressed one frame. */
const BATCH_BYTES = 1024 * 1024;

/**
 * Writes a whole log beside the place where it shall stand, and puts it there when it is complete and synced. Until
 * {@link commit} nothing is changed; {@link discard} leaves nothing behind.
 */
export class LogFileWriter {
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #writtenBytes = 0;
  #isHeaderWritten = false;
  #isDone = false;

  private constructor(
    private readonly target: StoredLogFile,
    private readonly temporary: string,
    private readonly file: FileHandle,
    private readonly compress: ((bytes: Uint8Array) => Promise<Buffer>) | undefined,
  ) {}

  /** @throws CodedError `INVALID_CONFIG` this Node cannot write the form; system errors */
  static async open(target: StoredLogFile): Promise<LogFileWriter> {
    const compress = compressorOf(target.form);
    const temporary = temporaryName(target.path);
    return new LogFileWriter(target, temporary, await open(temporary, 'wx', FILE_MODE), compress);
  }

  /** Adds whole lines; the first call gives the header line alone, which becomes a frame of its own (core §4.4). */
  async add(text: Buffer): Promise<void> {
    this.#pending.push(text);
    this.#pendingBytes += text.length;
    if (this.#isHeaderWritten && this.#pendingBytes < BATCH_BYTES) return;
    this.#isHeaderWritten = true;
    await this.#flush();
  }

  /** Writes what is held back. @returns the size of the file */
  async finish(): Promise<number> {
    await this.#flush();
    return this.#writtenBytes;
  }

  /**
   * Syncs the file and puts it in its place.
   *
   * @param as `replacement` of what may be there, or `new`: a name that is taken is a SessionStoredError
   */
  async commit(as: { readonly newSession: string } | 'replacement'): Promise<void> {
    await this.finish();
    await this.file.sync();
    if (as === 'replacement') await rename(this.temporary, this.target.path);
    else linkSession(as.newSession, this.temporary, this.target.path);
    this.#isDone = true;
    await this.file.close();
    await syncDirectory(dirname(this.target.path));
  }

  /** Removes what was written, unless it was committed. Idempotent; never throws. */
  async discard(): Promise<void> {
    if (this.#isDone) return;
    this.#isDone = true;
    await this.file.close().catch(() => undefined);
    await unlink(this.temporary).catch(() => undefined);
  }

  async #flush(): Promise<void> {
    if (this.#pendingBytes === 0) return;
    const text = Buffer.concat(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
    const bytes = this.compress === undefined ? text : await this.compress(text);
    for (let at = 0; at < bytes.length; ) at += (await this.file.write(bytes, at)).bytesWritten;
    this.#writtenBytes += bytes.length;
  }
}

function compressorOf(form: LogForm): ((bytes: Uint8Array) => Promise<Buffer>) | undefined {
  return form === 'none' ? undefined : compressor(form);
}
