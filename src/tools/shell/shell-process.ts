import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Deferred } from '../../base/index.js';
import { CommandFeed } from './command-feed.js';
import type { LiveShells } from './live-shells.js';
import { type CommandEnd, ShellError, type ShellExit } from './persistent-shell.js';
import { endProcessSession } from './process-session.js';
import type { ShellDialect } from './shell-dialect.js';

/** The most of the status line, and of what traps of the user's write around it, that is kept. */
const MAX_STATUS_LENGTH = 4096;
/** How often is looked whether the shell is still at a command, in milliseconds. */
const PROBE_INTERVAL_MS = 250;

/** What a shell process is started with. */
export interface ShellStart {
  readonly dialect: ShellDialect;
  /** Absolute path of a FIFO that nobody else uses, named as the dialect wants its script. */
  readonly script: string;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** What it enters itself into while it has processes. */
  readonly live: LiveShells;
}

/**
 * One running shell, alone in its process session.
 *
 * It reads commands from a FIFO as its script, so that its stdin is the commands' to redirect, and tells their status on
 * its stdout, which no command gets: a command writes to the FIFO that it is given, so nothing that it writes can be
 * taken for its end.
 */
export class ShellProcess {
  readonly #dialect: ShellDialect;
  readonly #live: LiveShells;
  readonly #feed: CommandFeed;
  readonly #child: ChildProcess;
  readonly #nonce = randomUUID().slice(0, 8);
  #count = 0;
  #lastStatus = 0;
  #statusText = '';
  #running: { readonly token: string; readonly settled: Deferred<CommandEnd> } | undefined;
  #exit: ShellExit | undefined;
  #failure: ShellError | undefined;
  #ending: Promise<void> | undefined;

  /**
   * Starts it; what goes wrong later with that is thrown by {@link run}.
   *
   * @throws system errors
   */
  constructor({ dialect, script, cwd, env, live }: ShellStart) {
    this.#dialect = dialect;
    this.#live = live;
    this.#feed = new CommandFeed(script);
    try {
      this.#feed.write(dialect.prelude(cwd));
      this.#child = this.#feed.lend((stdin) =>
        spawn(dialect.file, [...dialect.args, dialect.scriptName], {
          // There, because messages show the script's name as it is given.
          cwd: dirname(script),
          env,
          detached: true,
          stdio: [stdin, 'pipe', 'ignore'],
        }),
      );
    } catch (thrown) {
      this.#feed.close();
      throw thrown;
    }
    this.#child.on('error', (error) => this.#failed(error));
    this.#child.on('exit', (code, signal) => {
      this.#exited(signal === null ? { kind: 'exit', code: code ?? 0 } : { kind: 'signal', signal });
    });
    // Without a process there may be no pipes either; the error above follows.
    if (this.#child.pid === undefined) return;
    live.add(this.#child.pid);
    // That it has ended is told by its exit.
    this.#child.stdout?.on('error', () => undefined);
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => this.#readStatus(text));
  }

  /** Set when the process has ended; its whole session is ended then, too. */
  get exit(): ShellExit | undefined {
    return this.#exit;
  }

  /**
   * Runs one command, stdout and stderr to the FIFO at `output`, and tells how it or the shell ended. One at a time.
   *
   * @throws ShellError the shell could not be started
   * @throws system errors, when the command could not be handed over
   */
  async run(command: string, output: string): Promise<CommandEnd> {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#exit !== undefined) return this.#exit;
    const token = `${this.#nonce}-${++this.#count}:`;
    const settled = new Deferred<CommandEnd>();
    this.#running = { token, settled };
    const probe = setInterval(this.#probe(settled), PROBE_INTERVAL_MS);
    const file = command.length > this.#dialect.maxTextLength ? join(dirname(output), token) : undefined;
    try {
      if (file !== undefined) writeFileSync(file, command, { flag: 'wx', mode: 0o600 });
      const source = file === undefined ? { text: command } : { file };
      this.#feed.write(this.#dialect.invoke({ source, output, token, lastStatus: this.#lastStatus }));
      return await settled.promise;
    } finally {
      clearInterval(probe);
      this.#running = undefined;
      if (file !== undefined) rmSync(file, { force: true });
    }
  }

  /** Ends it and all processes of its session; fulfils when they are gone. Idempotent. */
  end(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    const { pid } = this.#child;
    if (pid !== undefined) {
      await endProcessSession(pid);
      this.#live.delete(pid);
    }
    this.#feed.close();
  }

  /** Resolves what waits for a status when the shell has gone past it twice in a row: it may be on its way once. */
  #probe(settled: Deferred<CommandEnd>): () => void {
    let wasRead = false;
    return () => {
      const isRead = this.#feed.hasBeenRead();
      if (isRead && wasRead) settled.resolve({ kind: 'unanswered' });
      wasRead = isRead;
    };
  }

  #readStatus(text: string): void {
    this.#statusText = (this.#statusText + text).slice(-MAX_STATUS_LENGTH);
    if (this.#running === undefined) return;
    const { token, settled } = this.#running;
    // Traps may show the command that tells it, too.
    const told = new RegExp(`${token}(\\d+)\\n`).exec(this.#statusText);
    if (told === null) return;
    const status = Number(told[1]);
    this.#statusText = '';
    this.#lastStatus = status;
    settled.resolve({ kind: 'status', status });
  }

  #exited(exit: ShellExit): void {
    this.#exit = exit;
    // Now, as long as the system cannot have given its process id to somebody else.
    void this.end();
    this.#child.stdout?.destroy();
    this.#running?.settled.resolve(exit);
  }

  #failed(error: Error): void {
    this.#failure = ShellError.notStarted(this.#dialect.file, error.message, error);
    this.#running?.settled.reject(this.#failure);
  }
}
