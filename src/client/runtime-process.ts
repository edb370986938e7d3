import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { Deferred, killMarked, RUNTIME_MARKER } from '../base/index.js';
import { settlesWithin } from './bounds.js';
import type { LaunchPlan } from './launch.js';
import { StderrTail } from './stderr-tail.js';
import { killGroup } from './survivors.js';

/** How the process ended: an exit code, a signal, or it never started. */
export interface ProcessExit {
  readonly exitCode?: number;
  readonly signal?: string;
  readonly spawnError?: Error;
}

const isPosix = process.platform !== 'win32';
const drainRoundMs = 250;
const maxDrainRounds = 8;

/**
 * A runtime in a process of its own. On POSIX it leads a process group, and everything it starts inherits a marker
 * variable: what it leaves behind is killed.
 */
export class RuntimeProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #marker = randomUUID();
  readonly #stderr = new StderrTail();
  readonly #exited = new Deferred<ProcessExit>();
  readonly #closed = new Deferred<void>();
  /** Settles when the process is gone (or never came), its output was read, and what it left behind is dead. */
  readonly drained: Promise<ProcessExit>;
  #exit: ProcessExit | undefined;
  #killError: Error | undefined;

  /** @throws Error when the system refuses at once; most refusals come through {@link drained} */
  constructor(plan: LaunchPlan) {
    this.#child = spawn(plan.command, plan.args, {
      cwd: plan.cwd,
      env: { ...plan.env, [RUNTIME_MARKER]: this.#marker },
      stdio: 'pipe',
      detached: isPosix,
      windowsHide: true,
    });
    const { stdin, stdout, stderr } = this.#child;
    stderr.on('data', (chunk: Buffer) => this.#stderr.push(chunk));
    // The transport hears stream errors while it is attached; a late EPIPE must not become an uncaught exception.
    for (const stream of [stdin, stdout, stderr]) stream.on('error', () => undefined);
    this.#child.on('error', (error) => {
      if (this.#child.pid === undefined) this.#ended({ spawnError: error });
      else this.#killError = error;
    });
    this.#child.once('exit', (exitCode, signal) => {
      this.#ended(signal === null ? { exitCode: exitCode ?? 0 } : { signal });
    });
    this.#child.once('close', () => this.#closed.resolve());
    this.drained = this.#drain();
  }

  get stdin(): Writable {
    return this.#child.stdin;
  }

  get stdout(): Readable {
    return this.#child.stdout;
  }

  get stderr(): StderrTail {
    return this.#stderr;
  }

  /** How the process ended; undefined while it runs. */
  get exit(): ProcessExit | undefined {
    return this.#exit;
  }

  /**
   * End of stdin, then SIGTERM (not on Windows), then SIGKILL, each with its grace in milliseconds; the end of the
   * process at any rung ends the ladder (core §6.2).
   *
   * @throws Error the process outlived SIGKILL; a later call tries again
   */
  async terminate(eofGraceMs: number, graceMs: number): Promise<void> {
    this.#child.stdin.end();
    if (!(await this.#exitsWithin(eofGraceMs)) && !(isPosix && (await this.#exitsAfter('SIGTERM', graceMs)))) {
      await this.#forceExit(graceMs);
    }
    await this.drained;
  }

  async #forceExit(graceMs: number): Promise<void> {
    this.#killError = undefined;
    const accepted = this.#child.kill('SIGKILL');
    if (await this.#exitsWithin(graceMs)) return;
    const cause = this.#killError === undefined ? undefined : new Error('SIGKILL failed', { cause: this.#killError });
    const verdict = accepted ? 'accepted' : 'refused';
    throw new Error(`runtime process did not exit within ${graceMs}ms after SIGKILL was ${verdict}`, { cause });
  }

  #exitsAfter(signal: NodeJS.Signals, graceMs: number): Promise<boolean> {
    if (this.#exit === undefined) this.#child.kill(signal);
    return this.#exitsWithin(graceMs);
  }

  async #exitsWithin(ms: number): Promise<boolean> {
    return this.#exit !== undefined || (await settlesWithin(this.#exited.promise, ms));
  }

  #ended(exit: ProcessExit): void {
    if (this.#exit !== undefined) return;
    this.#exit = exit;
    this.#exited.resolve(exit);
  }

  async #drain(): Promise<ProcessExit> {
    const exit = await this.#exited.promise;
    const { pid } = this.#child;
    if (pid !== undefined) {
      await killGroup(pid);
      await killMarked(`${RUNTIME_MARKER}=${this.#marker}`);
      await this.#pipesClose();
    }
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) stream.destroy();
    return exit;
  }

  /** Whether stdout and stderr end; given up when nothing arrives any more, or too much for a dead process. */
  async #pipesClose(): Promise<boolean> {
    const pipes = [this.#child.stdout, this.#child.stderr] as Socket[];
    let seen = -1;
    for (let round = 0; round < maxDrainRounds; round++) {
      const read = pipes.reduce((sum, pipe) => sum + pipe.bytesRead, 0);
      if (read === seen) return false;
      seen = read;
      if (await settlesWithin(this.#closed.promise, drainRoundMs)) return true;
    }
    return false;
  }
}
