import type { Writable } from 'node:stream';
import { describeError, type LogFormat, type LogLevel, toError } from '../base/index.js';
import { applyEnvFiles } from '../profile/index.js';
import type { ProcessSignals } from './process-signals.js';
import { createRuntime, type Runtime } from './runtime.js';
import { StdioChannel } from './stdio-channel.js';

/** Milliseconds a graceful shutdown may take, and one that follows an unhandled failure. */
const SHUTDOWN_BUDGET_MS = 5_000;
const CRASH_BUDGET_MS = 2_000;
/** What `process.exit` may take before the process is killed. */
const EXIT_BUDGET_MS = 500;

/** What the command line decides before the host is loaded. */
export interface StdioHostOptions {
  readonly profile: string;
  /** Absolute paths of patch files, in order. */
  readonly patches: readonly string[];
  /** See `RuntimeOptions.trace`. */
  readonly trace?: string;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
  /** The real stdout: see `guardStdout`. */
  readonly stdout: Writable;
  readonly signals: ProcessSignals;
}

/**
 * Runs a runtime as this process (runtime §1.2, 1.8, 1.10): serves stdin and stdout until `shutdown`, end of input, a
 * lost client (exit 0), or a signal; a second signal exits at once. A failed boot or an unhandled failure exits 1 with
 * one line on stderr. The `.env` files of directory and home count. Never returns.
 *
 * @throws CodedError `REFUSED_VARIABLE`
 */
export async function runStdioHost(options: StdioHostOptions): Promise<never> {
  const { stdout, signals, ...rest } = options;
  // Whoever collects the diagnostics may go; that must not end the work.
  process.stderr.on('error', () => undefined);
  applyEnvFiles();
  const runtime = createRuntime({ ...rest, channel: new StdioChannel(process.stdin, stdout) });
  const exit = new ProcessExit(runtime);
  runtime.closing.addEventListener('abort', () => exit.within(SHUTDOWN_BUDGET_MS), { once: true });
  signals.handle((code, isFirst) => (isFirst ? exit.close(code) : exit.now(code)));
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (thrown: unknown) => exit.onCrash(event, thrown));
  }
  // Nothing is left that could end the start: without this the process would exit with 0, and without a word.
  process.once('beforeExit', () => exit.onStuck());
  try {
    await runtime.start();
  } catch (thrown) {
    exit.onBootFailure(thrown);
  }
  await runtime.closed.catch((thrown: unknown) => process.stderr.write(`dsh: ${describeError(thrown)}\n`));
  return exit.now();
}

/** Decides the exit code: the first cause wins. */
class ProcessExit {
  #code: number | undefined;

  constructor(private readonly runtime: Runtime) {}

  onCrash(event: string, thrown: unknown): void {
    if (this.#code === 1) return;
    const stack = thrown instanceof Error ? thrown.stack : undefined;
    process.stderr.write(`dsh: ${event}: ${stack ?? describeError(thrown)}\n`);
    this.within(CRASH_BUDGET_MS);
    this.#code = 1;
    this.close(1);
  }

  onBootFailure(thrown: unknown): void {
    if (this.#code !== undefined) return;
    process.stderr.write(`dsh: ${toError(thrown).message}\n`);
    this.#code = 1;
  }

  onStuck(): never {
    const at = this.runtime.startingWith ?? 'nothing';
    process.stderr.write(`dsh: the start cannot go on: what ${at} waits for never comes\n`);
    return this.now(1);
  }

  /** Begins a graceful shutdown; how it went is told by {@link Runtime.closed}. */
  close(code: number): void {
    this.#code ??= code;
    this.runtime.close().catch(() => undefined);
  }

  /** Closing that takes longer is cut short, naming what it waits for. */
  within(budgetMs: number): void {
    setTimeout(() => {
      const waiting = this.runtime.pending.join(', ');
      process.stderr.write(`dsh: shutdown took longer than ${budgetMs} ms, waiting for: ${waiting}\n`);
      this.now();
    }, budgetMs).unref();
  }

  now(code = 0): never {
    if (process.getActiveResourcesInfo().some((resource) => resource.startsWith('FSReq'))) killAfter(EXIT_BUDGET_MS);
    process.exit(this.#code ?? code);
  }
}

/** By another process: `process.exit` waits for file operations, and some never return. POSIX only. */
function killAfter(ms: number): void {
  if (process.platform === 'win32') return;
  const { spawn } = process.getBuiltinModule('node:child_process');
  const script = `sleep ${ms / 1_000}; kill -9 ${process.pid} 2>/dev/null`;
  spawn('/bin/sh', ['-c', script], { detached: true, stdio: 'ignore' })
    .on('error', () => undefined)
    .unref();
}
