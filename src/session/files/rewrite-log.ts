import { ChunkPacker } from '../chunk-packing.js';
import { ByteLines } from './byte-lines.js';
import { logBytes } from './log-bytes.js';
import type { LogFileWriter } from './log-file-writer.js';
import type { StoredLogFile } from './session-place.js';

/** Which part of a log's text is written anew, in bytes of the text. */
export interface LogExtent {
  readonly headerBytes: number;
  /** The text ends here. */
  readonly bytes: number;
  /** Lines up to here, which is the end of a turn, are packed; 0: none. */
  readonly packedBytes: number;
}

/**
 * Copies a log's text line by line, packing chunk deltas of closed turns (core §4.3), into a writer that is left
 * open. The event loop runs between slices.
 *
 * @param options.header the line that takes the place of the log's own; default: that one
 * @param options.signal throws its reason when it is aborted
 */
export async function rewriteLog(
  source: StoredLogFile,
  { headerBytes, bytes, packedBytes }: LogExtent,
  writer: LogFileWriter,
  { header, signal }: { readonly header?: string; readonly signal?: AbortSignal | undefined } = {},
): Promise<void> {
  let out: string[] = [];
  const packer = new ChunkPacker((line) => out.push(line));
  let at = 0;
  const lines = new ByteLines((line = Buffer.alloc(0), length) => {
    at += length + 1;
    if (at > bytes) return;
    const isHeader = at === headerBytes;
    const text = isHeader && header !== undefined ? header : line.toString('utf8');
    if (isHeader || at > packedBytes) out.push(text);
    else packer.add(text);
  }, Number.POSITIVE_INFINITY);
  for await (const slice of logBytes(source.path, source.form)) {
    lines.push(slice);
    await pass();
    signal?.throwIfAborted();
    if (at >= bytes) break;
  }
  packer.end();
  await pass();

  async function pass(): Promise<void> {
    if (out.length === 0) return;
    const [first = '', ...rest] = out;
    out = [];
    await writer.add(Buffer.from(`${first}\n`));
    if (rest.length > 0) await writer.add(Buffer.from(`${rest.join('\n')}\n`));
  }
}
