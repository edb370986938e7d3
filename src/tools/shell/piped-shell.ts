import { accessSync, constants } from 'node:fs';
import { resolve } from 'node:path';
import { inject, injectable } from 'inversify';
import { Deferred, errorCode, MAX_TIMER_MS, toError } from '../../base/index.js';
import { CurrentScope, type Scope } from '../../kernel/index.js';
import { Session } from '../../session/index.js';
import { BashDialect } from './bash-dialect.js';
import { ChannelPool } from './channel-pool.js';
import { childEnvironment } from './child-environment.js';
import { HeadCollector } from './head-collector.js';
import { LiveShells } from './live-shells.js';
import { type CommandEnd, type PersistentShell, ShellError, type ShellResult } from './persistent-shell.js';
import { ShellConfig } from './shell-config.js';
import { ShellMarker } from './shell-marker.js';
import { ShellProcess } from './shell-process.js';

/** A bash over pipes (decision 47). */
@injectable()
export class PipedShell implements PersistentShell {
  readonly name = 'persistent shell';
  readonly #dialect = new BashDialect();
  readonly #channels = new ChannelPool(this.#dialect.scriptName);
  #shell: ShellProcess | undefined;
  /** Settles when the calls so far have ended. */
  #tail: Promise<unknown> = Promise.resolve();
  /** Ends the wait for the running command. */
  #interrupt: ((reason: unknown) => void) | undefined;
  #closed: Promise<void> | undefined;

  constructor(
    @inject(CurrentScope) scope: Scope,
    @inject(Session) private readonly session: Session,
    @inject(ShellConfig) private readonly config: ShellConfig,
    @inject(ShellMarker) private readonly marker: ShellMarker,
    @inject(LiveShells) private readonly live: LiveShells,
  ) {
    scope.defer('persistent shell', () => this.close());
  }

  run(command: string, signal: AbortSignal): Promise<ShellResult> {
    const result = this.#tail.then(() => this.#run(command, signal));
    this.#tail = result.catch(() => undefined);
    return result;
  }

  holds(): boolean {
    return this.#shell !== undefined && this.#shell.exit === undefined;
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#interrupt?.(ShellError.closed());
    await this.#tail;
    await this.#reset();
    await this.#channels.close();
  }

  async #run(command: string, signal: AbortSignal): Promise<ShellResult> {
    this.#throwIfEnded(signal);
    const lost = this.#shell?.exit;
    if (lost !== undefined) await this.#reset();
    const channel = await this.#channels.acquire();
    const output = new HeadCollector(this.config.maxOutputChars);
    channel.start((bytes) => output.push(bytes));
    let end: CommandEnd | undefined;
    try {
      this.#shell ??= this.#start(await this.#channels.script());
      this.#throwIfEnded(signal);
      end = await this.#endOf(this.#shell.run(command, channel.path), signal);
    } finally {
      if (end?.kind !== 'status') await this.#reset();
      this.#channels.release(channel);
    }
    const { text, clipped } = output.read();
    return {
      output: text,
      end,
      ...(clipped && { clippedFrom: output.totalBytes }),
      ...(lost !== undefined && { lost }),
    };
  }

  /** What comes first: the command's own end, the timeout, or an abort, which is thrown. */
  async #endOf(running: Promise<CommandEnd>, signal: AbortSignal): Promise<CommandEnd> {
    const { timeoutMs } = this.config;
    const early = new Deferred<CommandEnd>();
    const abort = (): void => early.reject(signal.reason);
    signal.addEventListener('abort', abort);
    this.#interrupt = early.reject;
    const timer = setTimeout(() => early.resolve({ kind: 'timeout', timeoutMs }), Math.min(timeoutMs, MAX_TIMER_MS));
    try {
      return await Promise.race([early.promise, running]);
    } finally {
      clearTimeout(timer);
      this.#interrupt = undefined;
      signal.removeEventListener('abort', abort);
    }
  }

  #throwIfEnded(signal: AbortSignal): void {
    signal.throwIfAborted();
    if (this.#closed !== undefined) throw ShellError.closed();
  }

  #start(script: string): ShellProcess {
    const { id, header } = this.session;
    const cwd = resolve(header.cwd ?? '.');
    checkWorkspace(cwd);
    const env = { ...childEnvironment(process.env, id), ...this.marker.environment };
    try {
      return new ShellProcess({ dialect: this.#dialect, script, cwd, env, live: this.live });
    } catch (thrown) {
      throw ShellError.notStarted(this.#dialect.file, toError(thrown).message, thrown);
    }
  }

  async #reset(): Promise<void> {
    const shell = this.#shell;
    this.#shell = undefined;
    await shell?.end();
  }
}

/** @throws ShellError when the shell could not enter it */
function checkWorkspace(path: string): void {
  try {
    // With the slash, a file is no directory.
    accessSync(`${path}/`, constants.X_OK);
  } catch (thrown) {
    const isMissing = errorCode(thrown) === 'ENOENT';
    const why = isMissing ? 'the workspace directory does not exist' : toError(thrown).message;
    throw ShellError.notStarted(path, why, thrown);
  }
}
