import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { HarnessNotification, SessionEvent } from '../../src/protocol/index.js';

export interface Frame {
  readonly id?: string | number | null;
  readonly method?: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into frames freely
  readonly params?: any;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into frames freely
  readonly result?: any;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A runtime process spoken to byte by byte. What is not a frame on its stdout is kept in {@link junk}. */
export class RawRuntime {
  readonly frames: Frame[] = [];
  readonly junk: string[] = [];
  readonly ended: Promise<ProcessEnd>;
  stderr = '';
  readonly #watchers = new Set<() => void>();
  readonly #open: string[] = [];
  #isOver = false;
  #nextId = 1;

  private constructor(readonly child: ChildProcessWithoutNullStreams) {
    child.stdout.setEncoding('utf8').on('data', (text: string) => this.#read(text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
      this.#changed();
    });
    child.stdin.on('error', () => undefined);
    this.ended = new Promise((resolve) => {
      child.once('close', (code, signal) => {
        resolve({ code, signal });
        this.#isOver = true;
        this.#changed();
      });
    });
  }

  /** @param node the Node.js to run it, this one by default */
  static spawn(args: readonly string[], env: Record<string, string>, node = process.execPath): RawRuntime {
    return new RawRuntime(spawn(node, args, { env, stdio: 'pipe', detached: true }));
  }

  write(...lines: readonly (string | object)[]): void {
    this.child.stdin.write(lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''));
  }

  /** Sends a request and gives its answer frame. */
  async call(method: string, params?: unknown): Promise<Frame> {
    const id = `raw-${this.#nextId++}`;
    this.write({ jsonrpc: '2.0', id, method, params });
    return this.frame((frame) => frame.id === id);
  }

  /** Sends a request and gives its result. */
  async request(method: string, params?: unknown): Promise<Frame['result']> {
    const { result, error } = await this.call(method, params);
    if (error !== undefined) throw new Error(`${method} failed: ${error.message}`);
    return result;
  }

  async prompt(sessionId: string, text: string): Promise<string> {
    const { messageId } = await this.request('session/prompt', { sessionId, contentBlocks: [{ type: 'text', text }] });
    return messageId as string;
  }

  /** The first frame that matches, now or later; rejects when the process ends before. */
  async frame(matches: (frame: Frame) => boolean): Promise<Frame> {
    for (;;) {
      const found = this.frames.find(matches);
      if (found !== undefined) return found;
      await this.change();
    }
  }

  async event(type: string, matches: (event: SessionEvent) => boolean = () => true): Promise<SessionEvent> {
    const frame = await this.frame(({ method, params }) => {
      return method === 'session.event' && params.event.type === type && matches(params.event);
    });
    return frame.params.event as SessionEvent;
  }

  idle(sessionId: string): Promise<Frame> {
    return this.frame(({ method, params }) => {
      return method === 'session.status' && params.sessionId === sessionId && params.status === 'idle';
    });
  }

  get notifications(): HarnessNotification[] {
    return this.frames.filter(({ method, id }) => method !== undefined && id === undefined) as HarnessNotification[];
  }

  get events(): SessionEvent[] {
    return this.notifications.flatMap(({ method, params }) => (method === 'session.event' ? [params.event] : []));
  }

  async kill(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill('SIGKILL');
    for (const stream of [this.child.stdout, this.child.stderr]) stream.destroy();
    await this.ended;
  }

  #read(text: string): void {
    const [head = '', ...rest] = text.split('\n');
    this.#open.push(head);
    if (rest.length === 0) return;
    const lines = [this.#open.splice(0).join(''), ...rest];
    this.#open.push(lines.pop() ?? '');
    for (const line of lines) {
      if (line.startsWith('{"jsonrpc":"2.0"')) this.frames.push(JSON.parse(line) as Frame);
      else this.junk.push(line);
    }
    this.#changed();
  }

  /** Fulfils when something has arrived; rejects when the process is over. */
  async change(): Promise<void> {
    if (this.#isOver) throw new Error(`the runtime ended: ${JSON.stringify(await this.ended)}\n${this.stderr}`);
    await new Promise<void>((resolve) => {
      this.#watchers.add(resolve);
    });
  }

  #changed(): void {
    for (const watcher of this.#watchers) watcher();
    this.#watchers.clear();
  }
}
