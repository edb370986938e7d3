import type { Writable } from 'node:stream';
import { describeError, type LogFormat, type LogLevel } from '../base/index.js';
import { createRuntime, type Runtime } from './runtime.js';
import { StdioChannel } from './stdio-channel.js';

/** Milliseconds a graceful shutdown may take, and one that follows an unhandled failure. */
const SHUTDOWN_BUDGET_MS = 5_000;
const CRASH_BUDGET_MS = 2_000;
const SIGNAL_EXIT_CODES = { SIGTERM: 0, SIGINT: 130, SIGHUP: 129 } as const;

export interface StdioHostOptions {
  readonly profile: string;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
  /** The real stdout: see `guardStdout`. */
  readonly stdout: Writable;
}

/**
 * Runs a runtime as this process (runtime §1.2, 1.8, 1.10): serves stdin and stdout until `shutdown`, end of input, a
 * lost client (exit 0), SIGTERM (0), SIGINT (130) or SIGHUP (129); a second signal exits at once. A failed boot or an unhandled
 * failure exits 1 with one line on stderr. Never returns.
 */
export async function runStdioHost(options: StdioHostOptions): Promise<never> {
  const { stdout, ...rest } = options;
  const runtime = createRuntime({ ...rest, channel: new StdioChannel(process.stdin, stdout) });
  const exit = new ProcessExit(runtime);
  runtime.closing.addEventListener('abort', () => exit.within(SHUTDOWN_BUDGET_MS), { once: true });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.on(signal, () => exit.onSignal(SIGNAL_EXIT_CODES[signal]));
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (thrown: unknown) => exit.onCrash(event, thrown));
  }
  try {
    await runtime.start();
  } catch (thrown) {
    exit.onBootFailure(thrown);
  }
  await runtime.closed.catch(() => undefined);
  return exit.now(0);
}

/** Decides the exit code: the first cause wins. */
class ProcessExit {
  #code: number | undefined;

  constructor(private readonly runtime: Runtime) {}

  onSignal(code: number): void {
    if (this.runtime.closing.aborted) process.exit(this.#code ?? code);
    this.#close(code);
  }

  onCrash(event: string, thrown: unknown): void {
    if (this.#code === 1) return;
    const stack = thrown instanceof Error ? thrown.stack : undefined;
    process.stderr.write(`dsh: ${event}: ${stack ?? describeError(thrown)}\n`);
    this.within(CRASH_BUDGET_MS);
    this.#code = 1;
    this.#close(1);
  }

  onBootFailure(thrown: unknown): void {
    if (this.#code !== undefined) return;
    process.stderr.write(`dsh: ${describeError(thrown)}\n`);
    this.#code = 1;
  }

  /** Closing that takes longer is cut short, naming what it waits for. */
  within(budgetMs: number): void {
    setTimeout(() => {
      const waiting = this.runtime.pending.join(', ');
      process.stderr.write(`dsh: shutdown took longer than ${budgetMs} ms, waiting for: ${waiting}\n`);
      process.exit(this.#code ?? 0);
    }, budgetMs).unref();
  }

  now(code: number): never {
    process.exit(this.#code ?? code);
  }

  #close(code: number): void {
    this.#code ??= code;
    this.runtime.close().catch((thrown: unknown) => process.stderr.write(`dsh: ${describeError(thrown)}\n`));
  }
}
