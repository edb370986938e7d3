import { Container, type ContainerModule, type ServiceIdentifier } from 'inversify';
import { type Teardown, TeardownStack } from '../base/index.js';
import { BindingLedger, type BindingProblem, BindingsError, type Replacement } from './binding-ledger.js';
import { type Bindings, fence, recordBindings } from './module-wrappers.js';
import { isContributionPoint, serviceId } from './tokens.js';

/**
 * A container with an ordered end. Inversify builds, the scope tears down: a service that owns something calls
 * `scope.defer` in its constructor, and since construction order is dependency order, reverse teardown is right.
 *
 * Two levels: the runtime's scope, and one fenced child a session. Inside either, `Scope` is injected as the scope
 * that the service lives in.
 */
export class Scope {
  readonly #container: Container;
  readonly #ledger = new BindingLedger();
  readonly #teardown = new TeardownStack();
  /** For people: `runtime`, or the id of the session. */
  readonly name: string;

  private constructor(name: string, parent: Container | undefined) {
    this.name = name;
    this.#container = new Container(
      parent === undefined ? { defaultScope: 'Singleton' } : { defaultScope: 'Singleton', parent },
    );
    this.#container.bind(ScopeToken).toConstantValue(this);
  }

  /** A scope without a parent. */
  static root(name: string): Scope {
    return new Scope(name, undefined);
  }

  /** A scope under this one, which does not close it: whoever opens a child registers who closes it. */
  child(name: string): Scope {
    return new Scope(name, this.#container);
  }

  /**
   * Loads a module. One at a time, so that contributions keep the order of the rows.
   *
   * @param owner whom messages about its bindings name
   * @returns the services whose binding it replaced
   */
  async load(module: ContainerModule, owner = 'code'): Promise<readonly Replacement[]> {
    const bindings: Bindings = { bound: [], rebound: [], unbound: [] };
    await this.#container.loadAsync(recordBindings(module, bindings));
    return this.#ledger.add(owner, bindings);
  }

  /** Who made each contribution to a point, in binding order. */
  contributors(point: ServiceIdentifier): readonly string[] {
    return this.#ledger.ownersOf(point);
  }

  /**
   * Builds everything that was loaded. To be done before the first child is opened: a singleton that a child resolves
   * first would keep what only the child can see.
   *
   * @throws BindingsError everything that cannot be built, and why
   */
  resolveAll(): void {
    const problems: BindingProblem[] = this.#ledger.ambiguities();
    for (const id of this.#ledger.ids) {
      try {
        if (isContributionPoint(id)) this.#container.getAll(id);
        else this.#container.get(id);
      } catch (thrown) {
        problems.push(this.#ledger.explain(id, thrown));
      }
    }
    if (problems.length > 0) throw new BindingsError(problems);
  }

  /** Loads a module that may add, but neither shadow nor unbind what the parent binds. Synchronous modules only. */
  loadFenced(module: ContainerModule, owner: string): void {
    this.#container.load(fence(module, this.#container, owner));
  }

  /** Binds a value that comes with the scope, as a session's header does. */
  provide<T>(id: ServiceIdentifier<T>, value: T): void {
    this.#container.bind(id).toConstantValue(value as never);
  }

  /** The service of this scope or its parent, built on first use. Throws when nothing binds it. */
  get<T>(id: ServiceIdentifier<T>): T {
    return this.#container.get(id);
  }

  /** The service, or undefined where no module binds it. */
  find<T>(id: ServiceIdentifier<T>): T | undefined {
    return this.#container.get(id, { optional: true });
  }

  /** Contributions of this scope, then of its parent: in each, binding order. */
  all<T>(id: ServiceIdentifier<T>): readonly T[] {
    return this.#container.getAll(id, { chained: true });
  }

  /** See {@link TeardownStack.defer}. */
  defer(label: string, run: Teardown): () => void {
    return this.#teardown.defer(label, run);
  }

  /** Labels of teardowns that have not finished. */
  get pending(): readonly string[] {
    return this.#teardown.pending;
  }

  /** See {@link TeardownStack.close}. */
  close(): Promise<void> {
    return this.#teardown.close();
  }
}

const ScopeToken = serviceId<Scope>('Scope');
/** Injects the {@link Scope} that a service lives in. */
export const CurrentScope = ScopeToken;
