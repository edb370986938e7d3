import { promisify } from 'node:util';
import { CodedError } from '../../base/index.js';

/** How a log is stored at rest; what is being written is always plain (decision 38). */
export type LogForm = 'none' | 'gzip' | 'zstd';

/** Every form, the one that is written live first. */
export const LOG_FORMS: readonly LogForm[] = ['none', 'gzip', 'zstd'];

const SUFFIX_OF: Readonly<Record<LogForm, string>> = { none: '', gzip: '.gz', zstd: '.zstd' };

/** The file name of a log in this form; `base` is that of the plain one. */
export function fileNameOf(base: string, form: LogForm): string {
  return base + SUFFIX_OF[form];
}

/** The reverse of {@link fileNameOf}. */
export function formOf(fileName: string): { readonly base: string; readonly form: LogForm } {
  const form = LOG_FORMS.find((one) => one !== 'none' && fileName.endsWith(SUFFIX_OF[one])) ?? 'none';
  return { base: fileName.slice(0, fileName.length - SUFFIX_OF[form].length), form };
}

type Done = (error: Error | null, result: Buffer) => void;

/** What of `node:zlib` Node 20 does not have. */
interface ZstdZlib {
  readonly constants: { readonly ZSTD_c_checksumFlag: number };
  zstdCompress(bytes: Uint8Array, options: { readonly params: Readonly<Record<number, number>> }, done: Done): void;
  zstdDecompressSync(bytes: Uint8Array): Buffer;
}

/** Whether this Node writes zstd (22.15 and later do). */
export function canWriteZstd(): boolean {
  return nativeZstd() !== undefined;
}

/**
 * What makes a frame of its own of the bytes it is given (core §4.4): zstd with a content checksum, or a gzip member.
 *
 * @throws CodedError `INVALID_CONFIG` this Node cannot write the form
 */
export function compressor(form: Exclude<LogForm, 'none'>): (bytes: Uint8Array) => Promise<Buffer> {
  if (form === 'gzip') return promisify((bytes: Uint8Array, done: Done) => zlib().gzip(bytes, done));
  const zstd = nativeZstd();
  if (zstd === undefined) throw new CodedError('INVALID_CONFIG', ZSTD_NEEDS_NODE);
  const params = { [zstd.constants.ZSTD_c_checksumFlag]: 1 };
  return promisify((bytes: Uint8Array, done: Done) => zstd.zstdCompress(bytes, { params }, done));
}

/** Says why {@link compressor} refuses. */
export const ZSTD_NEEDS_NODE = `compression zstd needs Node 22.15 or later to be written, this is ${process.version}: use gzip or none`;

/** A start needs none of it: loaded on first use. */
export function zlib(): typeof import('node:zlib') {
  return process.getBuiltinModule('node:zlib');
}

/** Undefined on Node before 22.15. */
export function nativeZstd(): ZstdZlib | undefined {
  const candidate = zlib() as unknown as Partial<ZstdZlib>;
  return candidate.zstdCompress === undefined ? undefined : (candidate as ZstdZlib);
}
