import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { CodedError, toError } from '../../base/index.js';
import { gzipMembers } from './gzip-members.js';
import type { LogForm } from './log-compression.js';
import { zstdFrames } from './zstd-frames.js';

const SLICE_BYTES = 64 * 1024;

/** How compressed bytes come apart into frames that can be read alone. */
export interface FrameReader {
  /** What a frame is called in problems. */
  readonly name: string;
  /**
   * The text of the frame that begins `bytes`, and its size there; or how many bytes have to be there, at least, to
   * say more.
   *
   * @throws Error what is wrong with it
   */
  read(bytes: Buffer): { readonly text: Uint8Array; readonly size: number } | { readonly needs: number };
  /** What can be read of a frame that was cut off. */
  readCut(bytes: Buffer): Promise<Uint8Array>;
}

/** Compressed bytes that cannot be read any further; what stood before was delivered. */
export class BrokenBytesError extends Error {
  override readonly name = 'BrokenBytesError';

  /** @param isCutOff the file just ends too early, as when a write was cut off */
  constructor(
    problem: string,
    readonly isCutOff: boolean,
  ) {
    super(problem);
  }
}

/**
 * The text of a log, in slices that are valid until the next one is asked for and may be cut anywhere. Ending the
 * iteration early closes the file.
 *
 * @param sliceBytes how much of the file is read at a time
 * @throws BrokenBytesError after everything that could be read
 * @throws CodedError `STORE_FAILED` the file cannot be read
 */
export async function* logBytes(
  path: string,
  form: LogForm,
  sliceBytes = SLICE_BYTES,
): AsyncGenerator<Buffer, void, undefined> {
  // Of a pipe without a writer an open would never end.
  const file = await guarded(path, () => open(path, constants.O_RDONLY | constants.O_NONBLOCK));
  try {
    await guarded(path, () => requireFile(file));
    const slices = slicesOf(file, path, sliceBytes);
    if (form === 'none') yield* slices;
    else yield* framesOf(slices, form === 'gzip' ? gzipMembers() : await zstdFrames());
  } finally {
    await file.close();
  }
}

async function requireFile(file: FileHandle): Promise<void> {
  if (!(await file.stat()).isFile()) throw new Error('it is no regular file');
}

async function* slicesOf(file: FileHandle, path: string, bytes: number): AsyncGenerator<Buffer, void, undefined> {
  const buffer = Buffer.allocUnsafeSlow(bytes);
  for (;;) {
    const { bytesRead } = await guarded(path, () => file.read(buffer, 0, bytes));
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}

/** Frame by frame, and each one alone: what is wrong with one hides nothing of those before it. */
async function* framesOf(slices: AsyncGenerator<Buffer>, reader: FrameReader): AsyncGenerator<Buffer, void, undefined> {
  let held = Buffer.alloc(0);
  let needs = 1;
  let at = 0;
  for await (const slice of slices) {
    held = Buffer.concat([held, slice]);
    while (held.length >= needs) {
      const frame = await readFrame(held, reader, at, slices);
      if ('needs' in frame) {
        needs = frame.needs;
        continue;
      }
      yield asBuffer(frame.text);
      // A frame may have become a hundred times as long.
      await setImmediate();
      held = held.subarray(frame.size);
      at += frame.size;
      needs = 1;
    }
  }
  if (held.length === 0) return;
  yield asBuffer(await reader.readCut(held));
  throw new BrokenBytesError(`${reader.name} at byte ${at}: it is cut off`, true);
}

async function readFrame(
  held: Buffer,
  reader: FrameReader,
  at: number,
  rest: AsyncIterable<Buffer>,
): Promise<ReturnType<FrameReader['read']>> {
  try {
    return reader.read(held);
  } catch (thrown) {
    throw new BrokenBytesError(`${reader.name} at byte ${at}: ${toError(thrown).message}`, await areNul(held, rest));
  }
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** A file that was growing when the power went may end in blocks that were never written. */
async function areNul(held: Buffer, rest: AsyncIterable<Buffer>): Promise<boolean> {
  if (held.some((byte) => byte !== 0)) return false;
  for await (const slice of rest) if (slice.some((byte) => byte !== 0)) return false;
  return true;
}

async function guarded<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (thrown) {
    throw new CodedError('STORE_FAILED', `${path} cannot be read: ${toError(thrown).message}`, { cause: thrown });
  }
}
