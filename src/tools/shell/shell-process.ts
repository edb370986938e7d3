import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { Deferred } from '../../base/index.js';
import { type CommandEnd, ShellError, type ShellExit } from './persistent-shell.js';
import { endProcessSession } from './process-session.js';
import type { ShellDialect } from './shell-dialect.js';

/** The most of the status line, and of what traps of the user's write around it, that is kept. */
const MAX_STATUS_LENGTH = 4096;

/**
 * One running shell, alone in its process session.
 *
 * It reads commands on stdin and tells their status on its stdout, which no command gets: a command writes to the FIFO
 * that it is given, so nothing that it writes can be taken for its end.
 */
export class ShellProcess {
  readonly #dialect: ShellDialect;
  readonly #cwd: string;
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #nonce = randomUUID().slice(0, 8);
  #count = 0;
  #lastStatus = 0;
  #statusText = '';
  #running: { readonly token: string; readonly settled: Deferred<CommandEnd> } | undefined;
  #exit: ShellExit | undefined;
  #failure: ShellError | undefined;
  #ending: Promise<void> | undefined;

  /** Starts it; what goes wrong with that is thrown by {@link run}. */
  constructor(dialect: ShellDialect, cwd: string, env: NodeJS.ProcessEnv) {
    this.#dialect = dialect;
    this.#cwd = cwd;
    this.#child = spawn(dialect.file, dialect.args, { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'ignore'] });
    this.#child.on('error', (error) => this.#failed(error));
    this.#child.on('exit', (code, signal) => {
      this.#exited(signal === null ? { kind: 'exit', code: code ?? 0 } : { kind: 'signal', signal });
    });
    // Without a process there may be no pipes either; the error above follows.
    if (this.#child.pid === undefined) return;
    // That it has ended is told by its exit.
    this.#child.stdin.on('error', () => undefined);
    this.#child.stdout.on('error', () => undefined);
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => this.#readStatus(text));
    this.#child.stdin.write(dialect.prelude);
  }

  /** Set when the process has ended; its whole session is ended then, too. */
  get exit(): ShellExit | undefined {
    return this.#exit;
  }

  /**
   * Runs one command, stdout and stderr to the FIFO at `output`, and tells how it or the shell ended. One at a time.
   *
   * @throws ShellError the shell could not be started
   */
  async run(command: string, output: string): Promise<CommandEnd> {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#exit !== undefined) return this.#exit;
    const token = `${this.#nonce}-${++this.#count}:`;
    const settled = new Deferred<CommandEnd>();
    this.#running = { token, settled };
    const file = command.length > this.#dialect.maxTextLength ? join(dirname(output), token) : undefined;
    try {
      if (file !== undefined) writeFileSync(file, command, { flag: 'wx', mode: 0o600 });
      const source = file === undefined ? { text: command } : { file };
      const input = this.#dialect.invoke({ source, output, token, lastStatus: this.#lastStatus });
      if (this.#child.pid !== undefined) this.#child.stdin.write(input);
      return await settled.promise;
    } finally {
      this.#running = undefined;
      if (file !== undefined) rmSync(file, { force: true });
    }
  }

  /** Ends it and all processes of its session; fulfils when they are gone. Idempotent. */
  end(): Promise<void> {
    const { pid } = this.#child;
    this.#ending ??= pid === undefined ? Promise.resolve() : endProcessSession(pid);
    return this.#ending;
  }

  #readStatus(text: string): void {
    this.#statusText = (this.#statusText + text).slice(-MAX_STATUS_LENGTH);
    if (this.#running === undefined) return;
    const { token, settled } = this.#running;
    const start = this.#statusText.indexOf(token);
    const end = this.#statusText.indexOf('\n', start);
    if (start < 0 || end < 0) return;
    const status = Number(this.#statusText.slice(start + token.length, end));
    this.#statusText = '';
    this.#lastStatus = status;
    settled.resolve({ kind: 'status', status });
  }

  #exited(exit: ShellExit): void {
    this.#exit = exit;
    // Now, as long as the system cannot have given its process id to somebody else.
    void this.end();
    this.#child.stdin.destroy();
    this.#child.stdout.destroy();
    this.#running?.settled.resolve(exit);
  }

  #failed(error: NodeJS.ErrnoException): void {
    const isCwdMissing = error.code === 'ENOENT' && !existsSync(this.#cwd);
    this.#failure = isCwdMissing
      ? ShellError.notStarted(this.#cwd, 'the workspace directory does not exist', error)
      : ShellError.notStarted(this.#dialect.file, error.message, error);
    this.#running?.settled.reject(this.#failure);
  }
}
