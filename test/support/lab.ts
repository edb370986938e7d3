import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageInfo } from '../../src/base/index.js';
import { DeepSeekHarness, type DeepSeekHarnessOptions } from '../../src/client/index.js';
import type { SessionEvent } from '../../src/protocol/index.js';
import { DeepSeekServer, type ServerAnswer } from './deepseek-server.js';
import { eventsIn } from './events-in.js';
import { RawRuntime } from './raw-runtime.js';

export const builtBin = join(packageInfo().root, 'dist', 'bin', 'dsh.js');

/** A fresh home, a fresh workspace and a local model server, for runtimes of the built bin. `close()` removes it all. */
export class Lab {
  readonly #runtimes: RawRuntime[] = [];
  readonly #harnesses: DeepSeekHarness[] = [];

  private constructor(
    readonly home: string,
    readonly cwd: string,
    readonly server: DeepSeekServer,
  ) {}

  static async open(...answers: readonly ServerAnswer[]): Promise<Lab> {
    const home = await mkdtemp(join(tmpdir(), 'dsh-test-home-'));
    const cwd = await mkdtemp(join(tmpdir(), 'dsh-test-work-'));
    return new Lab(home, cwd, await DeepSeekServer.start(...answers));
  }

  /** The runtime's whole environment. */
  get env(): Record<string, string> {
    return {
      PATH: process.env.PATH ?? '',
      DSH_HOME: this.home,
      DEEPSEEK_API_KEY: 'sk-test-key',
      DEEPSEEK_BASE_URL: this.server.url,
    };
  }

  get options(): DeepSeekHarnessOptions {
    return { profile: 'sdk-minimal', dshHome: this.home, cwd: this.cwd, env: this.env };
  }

  /** A harness on the built bin; closed with the lab. */
  harness(options: DeepSeekHarnessOptions = {}): DeepSeekHarness {
    const harness = new DeepSeekHarness({ ...this.options, ...options });
    this.#harnesses.push(harness);
    return harness;
  }

  /** A runtime spoken to by hand; killed with the lab. */
  raw(
    options: { readonly bin?: string; readonly args?: readonly string[]; readonly env?: Record<string, string> } = {},
  ): RawRuntime {
    const { bin = builtBin, args = ['--profile', 'sdk-minimal'], env } = options;
    const runtime = RawRuntime.spawn([bin, ...args], { ...this.env, ...env });
    this.#runtimes.push(runtime);
    return runtime;
  }

  /** A raw runtime that has answered `initialize`. */
  async initialized(params: object = {}): Promise<RawRuntime> {
    const runtime = this.raw();
    const route = { cwd: this.cwd, provider: 'deepseek-official', model: 'deepseek-v4-flash' };
    await runtime.request('initialize', { ...route, ...params });
    return runtime;
  }

  /** Paths of all session logs of the home. */
  async logs(): Promise<string[]> {
    const root = join(this.home, 'sessions');
    const files = await readdir(root, { recursive: true }).catch(() => []);
    return files.filter((file) => file.endsWith('.jsonl')).map((file) => join(root, file));
  }

  /** The events of the only session log, as stored; while it is written, the complete ones. */
  async storedEvents(): Promise<SessionEvent[]> {
    const [log] = await this.logs();
    return log === undefined ? [] : eventsIn(log);
  }

  async close(): Promise<void> {
    await Promise.all(this.#harnesses.map((harness) => harness.close()));
    await Promise.all(this.#runtimes.map((runtime) => runtime.kill()));
    await this.server.stop();
    for (const directory of [this.home, this.cwd]) await rm(directory, { recursive: true, force: true });
  }
}
