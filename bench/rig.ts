import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtBin } from '../test/support/lab.js';
import { RawRuntime } from '../test/support/raw-runtime.js';

/** A home, a model server in a process of its own, and runtimes of one Node.js on both. */
export class Rig {
  readonly #agent = new http.Agent({ keepAlive: true });
  #sessions = 0;

  private constructor(
    readonly node: string,
    readonly home: string,
    private readonly url: string,
    private readonly server: ChildProcess,
  ) {}

  /** @param node path of the Node.js that runs the runtimes */
  static async open(node: string): Promise<Rig> {
    const server = spawn(process.execPath, [join(import.meta.dirname, 'model-server.js')], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const [line] = (await once(server.stdout, 'data')) as [Buffer];
    return new Rig(node, await mkdtemp(join(tmpdir(), 'dsh-bench-')), line.toString().trim(), server);
  }

  async close(): Promise<void> {
    this.#agent.destroy();
    this.server.stdin?.end();
    await rm(this.home, { recursive: true, force: true });
  }

  /** A runtime that has not been spoken to. */
  spawn(): RawRuntime {
    const env = {
      PATH: process.env.PATH ?? '',
      DSH_HOME: this.home,
      DEEPSEEK_API_KEY: 'bench',
      DEEPSEEK_BASE_URL: this.url,
    };
    return RawRuntime.spawn([builtBin, '--profile', 'sdk-minimal'], env, this.node);
  }

  initialize(runtime: RawRuntime): Promise<unknown> {
    return runtime.request('initialize', {
      cwd: this.home,
      provider: 'deepseek-official',
      model: 'deepseek-v4-flash',
    });
  }

  async initialized(): Promise<RawRuntime> {
    const runtime = this.spawn();
    await this.initialize(runtime);
    return runtime;
  }

  /** One prompt in a session, a new one by default, until it is idle again. */
  async turn(runtime: RawRuntime, text: string, sessionId = `bench-${this.#sessions++}`): Promise<void> {
    runtime.frames.length = 0;
    await runtime.prompt(sessionId, text);
    await runtime.idle(sessionId);
  }

  async stop(runtime: RawRuntime): Promise<void> {
    await runtime.call('shutdown');
    await runtime.ended;
  }

  /** The request of a text turn without a runtime around it. */
  async bareRequest(): Promise<void> {
    const body = JSON.stringify({ messages: [{ role: 'user', content: 'text' }] });
    const request = http.request(`${this.url}/chat/completions`, { agent: this.#agent, method: 'POST' }).end(body);
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    response.resume();
    await once(response, 'end');
  }
}

/** Process id of a runtime. */
export function pidOf(runtime: RawRuntime): number {
  return runtime.child.pid as number;
}
