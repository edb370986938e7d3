import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { toError } from '../../base/index.js';
import { OutputChannel } from './output-channel.js';
import { ShellError } from './persistent-shell.js';

/** FIFOs made by one process: as many background processes can each hold one before the next process is needed. */
const BATCH = 8;

/**
 * The FIFOs of one shell, in a private directory, made when first needed: its script, and channels for output. One user
 * at a time.
 */
export class ChannelPool {
  readonly #scriptName: string;
  #directory: string | undefined;
  #made = 0;
  /** FIFOs that no channel is open on. */
  #unopened: string[] = [];
  #free: OutputChannel | undefined;
  readonly #open = new Set<OutputChannel>();

  constructor(scriptName: string) {
    this.#scriptName = scriptName;
  }

  /**
   * The FIFO for the script of a shell that is about to start; the one before it must be gone.
   *
   * @throws ShellError
   */
  async script(): Promise<string> {
    if (this.#directory === undefined || !existsSync(join(this.#directory, this.#scriptName))) await this.#makeFifos();
    return join(this.#directory as string, this.#scriptName);
  }

  /**
   * A channel that no process writes to. Files beside its path are private to this user.
   *
   * @throws ShellError
   */
  async acquire(): Promise<OutputChannel> {
    const free = this.#free;
    this.#free = undefined;
    // Commands clean up temporary directories, this one too.
    if (free !== undefined && existsSync(free.path)) return free;
    free?.close();
    let path = this.#unopened.pop();
    if (path === undefined || !existsSync(path)) {
      await this.#makeFifos();
      path = this.#unopened.pop() as string;
    }
    try {
      return this.#openOn(path);
    } catch (thrown) {
      throw notStarted(thrown);
    }
  }

  /** Ends a command's use of its channel, handing on the last of its output. */
  release(channel: OutputChannel): void {
    if (channel.finish()) this.#free = channel;
  }

  /** Closes all channels and removes the directory. Idempotent. */
  async close(): Promise<void> {
    for (const channel of this.#open) channel.close();
    this.#free = undefined;
    this.#unopened = [];
    if (this.#directory !== undefined) await rm(this.#directory, { recursive: true, force: true });
    this.#directory = undefined;
  }

  #openOn(path: string): OutputChannel {
    const channel = new OutputChannel(path, () => {
      this.#open.delete(channel);
      if (existsSync(path)) this.#unopened.push(path);
    });
    this.#open.add(channel);
    return channel;
  }

  /** All that are missing by one process. */
  async #makeFifos(): Promise<void> {
    try {
      if (this.#directory === undefined || !existsSync(this.#directory)) {
        this.#directory = await mkdtemp(join(tmpdir(), 'dsh-'));
      }
      const directory = this.#directory;
      const script = join(directory, this.#scriptName);
      const channels = Array.from({ length: BATCH }, () => join(directory, `${this.#made++}`));
      const paths = existsSync(script) ? channels : [script, ...channels];
      await promisify(execFile)('mkfifo', ['-m', '600', ...paths]);
      this.#unopened = channels;
    } catch (thrown) {
      throw notStarted(thrown);
    }
  }
}

function notStarted(thrown: unknown): ShellError {
  return ShellError.notStarted('its pipes', toError(thrown).message, thrown);
}
