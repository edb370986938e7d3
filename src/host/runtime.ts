import { AgentRegistry, SessionModules } from '../agent/index.js';
import { CodedError, describeError, errorCode, type LogFormat, type LogLevel } from '../base/index.js';
import { Scope, Startable } from '../kernel/index.js';
import { Logger, WinstonLogger } from '../logging/index.js';
import { catalog, compose, loadProfile, type Profile, resolveHome } from '../profile/index.js';
import type { JsonRpcTransport } from '../protocol/index.js';
import { RpcChannel, RuntimeControl } from '../rpc/index.js';
import { MemoryChannel } from './memory-channel.js';

/** How an embedded runtime is made. */
export interface RuntimeOptions {
  /** A shipped profile's name, or a profile. Default `sdk`. */
  readonly profile?: string | Profile;
  /** What `${env:…}` and `DSH_HOME` are read from. Default: the process's environment. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Default `warn`. */
  readonly logLevel?: LogLevel;
  /** Default `text`. */
  readonly logFormat?: LogFormat;
  /** Where the client is. Default: in this process, see {@link Runtime.connect}. */
  readonly channel?: RpcChannel;
}

/** Makes a runtime. Nothing happens before {@link Runtime.start}. */
export function createRuntime(options: RuntimeOptions = {}): Runtime {
  return new Runtime(options);
}

/** One runtime: a profile's modules in a scope, serving one client over one channel. */
export class Runtime {
  /** Settles when the runtime has closed, whoever asked for it; rejects with what teardown threw. */
  readonly closed: Promise<void>;
  readonly #closingController = new AbortController();
  readonly #options: RuntimeOptions;
  readonly #scope = Scope.root('runtime');
  readonly #logger: WinstonLogger;
  readonly #memory = new MemoryChannel();
  #agents: AgentRegistry | undefined;
  #startables: readonly Startable[] = [];
  #starting: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #settleClosed!: (outcome: Promise<void>) => void;

  constructor(options: RuntimeOptions) {
    this.#options = options;
    this.#logger = WinstonLogger.create({
      level: options.logLevel ?? 'warn',
      format: options.logFormat ?? 'text',
      stream: process.stderr,
    });
    this.closed = new Promise((resolve) => {
      this.#settleClosed = resolve;
    });
    this.closed.catch(() => undefined);
  }

  /**
   * Boots: loads the rows' modules in order, builds the graph, runs every `Startable`, then serves. Memoised.
   *
   * @throws CodedError naming the profile's broken rows, or the part that failed; everything is torn down then
   */
  start(): Promise<void> {
    this.#starting ??= this.#boot().catch(async (thrown: unknown) => {
      await this.close().catch(() => undefined);
      throw thrown;
    });
    return this.#starting;
  }

  /** Boots, and gives the client's end of the in-memory channel; for a runtime without a channel of its own. */
  async connect(): Promise<JsonRpcTransport> {
    await this.start();
    return this.#memory.client;
  }

  /**
   * Stops admitting, aborts turns and lets their closing events out, closes sessions, tears everything down. Memoised.
   *
   * @throws AggregateError of the teardowns that failed, after all ran
   */
  close(): Promise<void> {
    if (this.#closing === undefined) {
      this.#closing = this.#shutDown();
      this.#closingController.abort();
      this.#settleClosed(this.#closing);
    }
    return this.#closing;
  }

  /** Aborted when closing begins, whoever asked for it: from then on its host may bound it. */
  get closing(): AbortSignal {
    return this.#closingController.signal;
  }

  /** What a close that takes long is waiting for. */
  get pending(): readonly string[] {
    return this.#scope.pending;
  }

  async #boot(): Promise<void> {
    const { env = process.env, channel } = this.#options;
    const { profile: named = 'sdk' } = this.#options;
    const profile = typeof named === 'string' ? await loadProfile(named) : named;
    const rows = await compose(profile, catalog, { env, home: resolveHome(env) });
    this.#scope.provide(Logger, this.#logger);
    this.#scope.provide(RpcChannel, channel ?? this.#memory);
    this.#scope.provide(RuntimeControl, {
      initialized: () => setImmediate(() => void this.#warmUp()),
      closing: () => this.#closingController.abort(),
      requestClose: (reason) => this.#requestClose(reason),
    });
    this.#scope.provide(
      SessionModules,
      rows.flatMap(({ row, module }) =>
        module.session === undefined ? [] : [{ name: row.id, module: module.session }],
      ),
    );
    for (const { row, module } of rows) {
      const { runtime } = module;
      if (runtime !== undefined) await this.#step(`row ${JSON.stringify(row.id)}`, () => this.#scope.load(runtime));
    }
    await this.#step('the services', () => this.#scope.resolveAll());
    this.#agents = this.#scope.find(AgentRegistry);
    this.#startables = this.#scope.all(Startable);
    for (const part of this.#startables) await this.#step(part.name, () => part.start?.());
    for (const part of this.#startables) await this.#step(part.name, () => part.ready?.());
    this.#logger.info('ready', { profile: profile.name, pid: process.pid });
  }

  /** One step of the boot; a close that was asked for meanwhile ends it. */
  async #step(what: string, run: () => void | Promise<void>): Promise<void> {
    if (this.#closing !== undefined) throw new CodedError('RUNTIME_CLOSING', 'the runtime was closed while it started');
    try {
      await run();
    } catch (thrown) {
      throw new CodedError(errorCode(thrown) ?? 'BOOT_FAILED', `${what} failed to start: ${describeError(thrown)}`, {
        cause: thrown,
      });
    }
  }

  async #warmUp(): Promise<void> {
    for (const part of this.#startables) {
      if (this.#closing !== undefined) return;
      try {
        await part.warm?.();
      } catch (thrown) {
        this.#logger.warn('warm-up failed', { part: part.name, error: thrown });
      }
    }
  }

  async #shutDown(): Promise<void> {
    for (const part of [...this.#startables].reverse()) {
      try {
        part.stop?.();
      } catch (thrown) {
        this.#logger.error('stop failed', { part: part.name, error: thrown });
      }
    }
    // What it throws is thrown again by the scope's own teardown of the agents.
    await this.#agents?.closeAll().catch(() => undefined);
    try {
      await this.#scope.close();
    } finally {
      await this.#logger.flush();
    }
  }

  #requestClose(reason: string): void {
    if (this.#closing !== undefined) return;
    this.#logger.info('closing', { reason });
    this.close().catch((thrown: unknown) => this.#logger.error('teardown failed', { error: thrown }));
  }
}
