import { closeSync, constants, openSync, readSync, writeFileSync } from 'node:fs';
import { errorCode } from '../../base/index.js';

/** More than is ever unread: what one command needs. */
const PIPE_CAPACITY = 64 * 1024;

/**
 * The FIFO that a shell reads as its script. This is the only writing end: a shell whose runtime was killed reads the
 * end of its script, and ends.
 */
export class CommandFeed {
  readonly #path: string;
  readonly #fd: number;
  #isClosed = false;

  /** @throws system errors, when the FIFO cannot be opened */
  constructor(path: string) {
    this.#path = path;
    this.#fd = openBothWays(path);
  }

  /**
   * Lends a descriptor of the FIFO, for the shell to start with: opening its script would wait for a writer for ever if
   * the runtime were killed just then. The shell has to give it up.
   */
  lend<T>(use: (fd: number) => T): T {
    const fd = openBothWays(this.#path);
    try {
      return use(fd);
    } finally {
      closeSync(fd);
    }
  }

  /** @throws system errors: `EAGAIN` when the shell leaves too much unread */
  write(text: string): void {
    writeFileSync(this.#fd, text);
  }

  /** Whether the shell has read all that was written. What it has not is taken out and put back. False once closed. */
  hasBeenRead(): boolean {
    if (this.#isClosed) return false;
    const unread = Buffer.allocUnsafe(PIPE_CAPACITY);
    try {
      writeFileSync(this.#fd, unread.subarray(0, readSync(this.#fd, unread)));
      return false;
    } catch (thrown) {
      if (errorCode(thrown) === 'EAGAIN') return true;
      throw thrown;
    }
  }

  /** Idempotent. */
  close(): void {
    if (!this.#isClosed) closeSync(this.#fd);
    this.#isClosed = true;
  }
}

/** For reading and writing, which waits for no other end. */
function openBothWays(path: string): number {
  return openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
}
