import { closeSync, fchmodSync, openSync, writeSync } from 'node:fs';
import { CodedError, secretMasker, toError } from '../base/index.js';

/** Which way a frame went, as whoever traces sees it. */
export type FrameDirection = 'in' | 'out';

/** Hears every line of a channel, without its newline. Must not throw. */
export type FrameListener = (direction: FrameDirection, line: string) => void;

/**
 * A file with every frame of a channel, a JSON line each: `{"time": ISO 8601, "direction": "in" | "out", "frame": {…}}`,
 * or `"text"` in place of `frame` for a line that is none (decision 43). Known credentials are masked. The file is for
 * its owner only; what it holds is kept, and lines are added.
 */
export class FrameTrace {
  readonly #mask: (text: string) => string;
  #fd: number | undefined;
  #pending = '';

  /**
   * @param env whose credentials are masked
   * @param onFailed hears, once, that the file takes no more; the trace ends with it
   * @throws CodedError `TRACE_FAILED` the file cannot be opened
   */
  constructor(
    private readonly file: string,
    env: Readonly<Record<string, string | undefined>>,
    private readonly onFailed: (error: Error) => void,
  ) {
    this.#mask = secretMasker(env);
    try {
      this.#fd = openSync(file, 'a', 0o600);
      fchmodSync(this.#fd, 0o600);
    } catch (thrown) {
      this.close();
      throw new CodedError('TRACE_FAILED', `the trace ${file} cannot be written: ${toError(thrown).message}`);
    }
  }

  /** Adds a line; it is in the file at the end of the tick. */
  readonly add: FrameListener = (direction, line) => {
    if (this.#fd === undefined || line.trim() === '') return;
    if (this.#pending === '') process.nextTick(this.#write);
    const time = new Date().toISOString();
    const masked = this.#mask(line);
    const content = isJsonObject(masked) ? `"frame":${masked}` : `"text":${JSON.stringify(masked)}`;
    this.#pending += `{"time":"${time}","direction":"${direction}",${content}}\n`;
  };

  /** Writes what is left. Idempotent. */
  close(): void {
    this.#write();
    const fd = this.#fd;
    this.#fd = undefined;
    if (fd !== undefined) closeSync(fd);
  }

  readonly #write = (): void => {
    const text = this.#pending;
    this.#pending = '';
    if (text === '' || this.#fd === undefined) return;
    try {
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#fd, bytes, at);
    } catch (thrown) {
      const fd = this.#fd;
      this.#fd = undefined;
      closeSync(fd);
      const problem = `the trace ${this.file} ends here: ${toError(thrown).message}`;
      this.onFailed(new CodedError('TRACE_FAILED', problem));
    }
  };
}

function isJsonObject(text: string): boolean {
  if (!text.startsWith('{')) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
