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

/** The output channels of one shell, in a private directory; made when first needed. One user at a time. */
export class ChannelPool {
  #directory: string | undefined;
  #made = 0;
  /** FIFOs that no channel is open on. */
  #unopened: string[] = [];
  #free: OutputChannel | undefined;
  readonly #open = new Set<OutputChannel>();

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
    try {
      let path = this.#unopened.pop();
      if (path === undefined || !existsSync(path)) {
        await this.#make();
        path = this.#unopened.pop() as string;
      }
      return this.#openOn(path);
    } catch (thrown) {
      throw ShellError.notStarted('its output pipe', toError(thrown).message, thrown);
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

  async #make(): Promise<void> {
    if (this.#directory === undefined || !existsSync(this.#directory)) {
      this.#directory = await mkdtemp(join(tmpdir(), 'dsh-'));
    }
    const directory = this.#directory;
    const paths = Array.from({ length: BATCH }, () => join(directory, `${this.#made++}`));
    await promisify(execFile)('mkfifo', ['-m', '600', ...paths]);
    this.#unopened = paths;
  }
}
