import type { ContainerModule } from 'inversify';
import { SessionModules } from '../agent/index.js';
import { CodedError, describeError, errorCode } from '../base/index.js';
import { BindingsError, Scope, Startable } from '../kernel/index.js';
import type { Logger } from '../logging/index.js';
import { type ComposedRow, shippedProviders } from '../profile/index.js';

/** What keeps a runtime from starting, and which rows are to blame. */
interface BootProblem {
  readonly message: string;
  readonly rows: readonly string[];
  readonly cause?: unknown;
}

/** Rows that could not be made to work. */
export class BootError extends CodedError {
  override readonly name = 'BootError';

  /** @param problems causes before what follows from them */
  constructor(readonly problems: readonly BootProblem[]) {
    const [first] = problems;
    const code = (problems.length === 1 && errorCode(first?.cause)) || 'BOOT_FAILED';
    super(code, problems.map(({ message }) => message).join('; '), { cause: first?.cause });
  }
}

/** What an assembly is made of. */
export interface AssemblyParts {
  readonly rows: readonly ComposedRow[];
  /** Loaded after all rows. */
  readonly overrides: readonly ContainerModule[];
  /** Binds what the host provides. */
  readonly provide: (scope: Scope) => void;
  readonly logger: Logger;
  /** Hears what comes next, between two steps; a throw ends the boot. */
  readonly goesOn: (next: string) => void;
}

/** The rows' modules in a scope: loaded in order, the whole graph built, every `Startable` started. */
export class Assembly {
  readonly scope = Scope.root('runtime');
  #startables: readonly Startable[] = [];

  constructor(private readonly parts: AssemblyParts) {}

  /** Those whose `start` was called, and those that come. */
  get startables(): readonly Startable[] {
    return this.#startables;
  }

  /**
   * Builds and starts; what was built is the caller's to close, also when this throws.
   *
   * @throws BootError every row that failed, and why
   */
  async start(): Promise<void> {
    this.parts.provide(this.scope);
    const sessions = this.parts.rows.flatMap(({ row, module: { session } }) =>
      session === undefined ? [] : [{ name: row.id, module: session }],
    );
    this.scope.provide(SessionModules, sessions);
    await this.#load();
    await this.#resolve();
    this.#startables = this.scope.all(Startable);
    const owners = this.scope.contributors(Startable);
    for (const [index, part] of this.#startables.entries()) {
      this.parts.goesOn(`the start of ${part.name}`);
      try {
        await part.start?.();
      } catch (thrown) {
        const row = owners[index];
        throw new BootError([
          problem(`${row === undefined ? '' : `${row}: `}${part.name} failed to start`, row, thrown),
        ]);
      }
    }
  }

  async #load(): Promise<void> {
    const problems: BootProblem[] = [];
    for (const { row, module } of this.parts.rows) {
      this.parts.goesOn(labelOf(row.id));
      if (module.runtime === undefined) continue;
      try {
        await this.#loadOne(module.runtime, labelOf(row.id));
      } catch (thrown) {
        problems.push(problem(`${labelOf(row.id)} cannot be loaded`, labelOf(row.id), thrown));
      }
    }
    if (problems.length > 0) throw new BootError(problems);
    for (const module of this.parts.overrides) await this.#loadOne(module, 'an override');
  }

  async #loadOne(module: ContainerModule, owner: string): Promise<void> {
    for (const { service, replaced } of await this.scope.load(module, owner)) {
      this.parts.logger.info('service replaced', { service, by: owner, instead: replaced.join(', ') });
    }
  }

  async #resolve(): Promise<void> {
    this.parts.goesOn('the services');
    try {
      this.scope.resolveAll();
    } catch (thrown) {
      if (!(thrown instanceof BindingsError)) throw thrown;
      const problems = thrown.problems.map(async ({ kind, owners, message, token, cause }): Promise<BootProblem> => {
        const providers = kind === 'missing' && token !== undefined ? await shippedProviders(token) : [];
        const named = providers.map((name) => JSON.stringify(name)).join(' or ');
        const advice = providers.length === 0 ? '' : `: add a row with the module ${named}`;
        const whose = kind === 'failed' ? `${owners.join(', ')}: ` : '';
        return { message: `${whose}${message}${advice}`, rows: owners, cause };
      });
      throw new BootError(await Promise.all(problems));
    }
  }
}

/** How messages call a row. */
export function labelOf(id: string): string {
  return `row ${JSON.stringify(id)}`;
}

function problem(what: string, row: string | undefined, thrown: unknown): BootProblem {
  return { message: `${what}: ${describeError(thrown)}`, rows: row === undefined ? [] : [row], cause: thrown };
}
