import { AgentRegistry } from '../agent/index.js';
import { CodedError, describeError } from '../base/index.js';
import { DeepSeekHarness, type InProcessOptions } from '../client/index.js';
import { Environment, type Scope } from '../kernel/index.js';
import { Logger, WinstonLogger } from '../logging/index.js';
import { compose, loadProfile, ProfileModules, patchProfile, resolveHome } from '../profile/index.js';
import { FrameTrace, type JsonRpcTransport, type JsonRpcTransportOptions } from '../protocol/index.js';
import { RpcChannel, RuntimeControl } from '../rpc/index.js';
import { Assembly, type AssemblyParts, labelOf } from './assembly.js';
import { MemoryChannel } from './memory-channel.js';
import { withoutFailingOptional } from './optional-rows.js';
import type { RuntimeOptions } from './runtime-options.js';
import { TracedChannel } from './traced-channel.js';

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
  readonly #logger: WinstonLogger;
  readonly #memory = new MemoryChannel();
  #assembly: Assembly | undefined;
  #trace: FrameTrace | undefined;
  #step: string | undefined;
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
   * @throws CodedError naming every broken row and why; everything is torn down then. `RUNTIME_CLOSING` when it is
   *   closed meanwhile, whatever the boot is waiting for
   */
  start(): Promise<void> {
    this.#starting ??= Promise.race([this.#boot(), this.#closedMeanwhile()]).catch(async (thrown: unknown) => {
      await this.close().catch(() => undefined);
      throw thrown;
    });
    return this.#starting;
  }

  /**
   * The client's end of the in-memory channel; for a runtime without a channel of its own. The runtime starts; what is
   * sent before it is ready waits, and when it cannot start the conversation ends. {@link start} says why.
   */
  connect(options?: JsonRpcTransportOptions): JsonRpcTransport {
    const client = this.#memory.client(options);
    this.start().catch(() => client.close());
    return client;
  }

  /** The client API without a child process, as {@link DeepSeekHarness.inProcess}; closing it closes the runtime. */
  harness(options?: InProcessOptions): DeepSeekHarness {
    return DeepSeekHarness.inProcess(this, options);
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

  /** What a start that is under way, or has failed, came to: a row, or a part; undefined once it has succeeded. */
  get startingWith(): string | undefined {
    return this.#step;
  }

  /** What a close that takes long is waiting for. */
  get pending(): readonly string[] {
    return this.#assembly?.scope.pending ?? [];
  }

  async #boot(): Promise<void> {
    const { profile: named = 'sdk', patches, modules, overrides = [], env = process.env, channel } = this.#options;
    this.#goesOn('the profile');
    const home = resolveHome(env);
    const profile =
      typeof named === 'string'
        ? await loadProfile({ name: named, home, ...(patches !== undefined && { patches }) })
        : await patchProfile(named, patches);
    for (const warning of profile.warnings ?? []) this.#logger.warn(warning);
    const { rows, skipped } = await compose(profile, new ProfileModules(modules), { env, home }, (row) =>
      this.#goesOn(labelOf(row.id)),
    );
    for (const reason of skipped) this.#logger.warn(`an optional part is left out: ${reason}`);
    const logger = this.#logger;
    const parts = { rows, overrides, logger, goesOn: (next: string) => this.#goesOn(next) };
    const kept = await withoutFailingOptional(parts, (scope) => this.#provide(scope, env, new MemoryChannel()));
    const served = this.#traced(channel ?? this.#memory, env);
    const provide = (scope: Scope): void => this.#provide(scope, env, served);
    await this.#serve({ ...parts, rows: kept, provide });
    this.#step = undefined;
    logger.info('ready', { profile: profile.name, pid: process.pid });
  }

  async #serve(parts: AssemblyParts): Promise<void> {
    const assembly = new Assembly(parts);
    this.#assembly = assembly;
    await assembly.start();
    for (const part of assembly.startables) {
      this.#goesOn(`the start of ${part.name}`);
      try {
        part.ready?.();
      } catch (thrown) {
        throw new CodedError('BOOT_FAILED', `${part.name} failed to start: ${describeError(thrown)}`, {
          cause: thrown,
        });
      }
    }
  }

  #traced(channel: RpcChannel, env: Environment): RpcChannel {
    const { trace } = this.#options;
    if (trace === undefined) return channel;
    this.#trace = new FrameTrace(trace, env, (error) => this.#logger.warn('tracing ended', { error }));
    return new TracedChannel(channel, this.#trace);
  }

  #provide(scope: Scope, env: Environment, channel: RpcChannel): void {
    scope.provide(Logger, this.#logger);
    scope.provide(Environment, env);
    scope.provide(RpcChannel, channel);
    scope.provide(RuntimeControl, {
      initialized: () => setImmediate(() => void this.#warmUp()),
      closing: () => this.#closingController.abort(),
      requestClose: (reason) => this.#requestClose(reason),
    });
  }

  /** A close that was asked for meanwhile ends the boot. */
  #goesOn(next: string): void {
    this.#step = next;
    if (this.#closing !== undefined) throw closedWhileStarting();
  }

  /** Something that never settles must not keep whoever waits for the start. */
  #closedMeanwhile(): Promise<never> {
    const { signal } = this.#closingController;
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(closedWhileStarting()), { once: true });
    });
  }

  async #warmUp(): Promise<void> {
    for (const part of this.#assembly?.startables ?? []) {
      if (this.#closing !== undefined) return;
      try {
        await part.warm?.();
      } catch (thrown) {
        this.#logger.warn('warm-up failed', { part: part.name, error: thrown });
      }
    }
  }

  async #shutDown(): Promise<void> {
    const assembly = this.#assembly;
    for (const part of [...(assembly?.startables ?? [])].reverse()) {
      try {
        part.stop?.();
      } catch (thrown) {
        this.#logger.error('stop failed', { part: part.name, error: thrown });
      }
    }
    try {
      if (assembly !== undefined) {
        // What it throws is thrown again by the scope's own teardown of the agents.
        await closeAgents(assembly).catch(() => undefined);
        await assembly.scope.close();
      }
    } finally {
      this.#trace?.close();
      await this.#logger.flush();
    }
  }

  #requestClose(reason: string): void {
    if (this.#closing !== undefined) return;
    this.#logger.info('closing', { reason });
    this.close().catch((thrown: unknown) => this.#logger.error('teardown failed', { error: thrown }));
  }
}

function closedWhileStarting(): CodedError {
  return new CodedError('RUNTIME_CLOSING', 'the runtime was closed while it started');
}

/** Of a boot that broke there may be no registry, or one that cannot be built. */
async function closeAgents({ scope, startables }: Assembly): Promise<void> {
  if (startables.length > 0) await scope.find(AgentRegistry)?.closeAll();
}
