import type { ServiceIdentifier } from 'inversify';
import { CodedError, describeError } from '../base/index.js';
import type { Bindings } from './module-wrappers.js';
import { isContributionPoint, tokenName } from './tokens.js';

/** A service whose binding a later module took the place of. */
export interface Replacement {
  readonly service: string;
  /** Who had bound it. */
  readonly replaced: readonly string[];
}

/** Why something that was loaded cannot be built. */
export interface BindingProblem {
  readonly kind: 'missing' | 'ambiguous' | 'failed';
  /** Who bound it. */
  readonly owners: readonly string[];
  readonly message: string;
  /** What nobody binds, or more than one, or what failed. */
  readonly token?: ServiceIdentifier;
  readonly cause?: unknown;
}

/** Some of what was loaded cannot be built. */
export class BindingsError extends CodedError {
  override readonly name = 'BindingsError';
  /** Causes before what follows from them; each once. */
  readonly problems: readonly BindingProblem[];

  constructor(problems: readonly BindingProblem[]) {
    const order = ['ambiguous', 'missing', 'failed'];
    const sorted = [...problems].sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
    const known = new Map<string, BindingProblem>();
    for (const problem of sorted) {
      // What needs something that failed fails with the very same words.
      const key = problem.kind === 'failed' ? describeError(problem.cause) : problem.message;
      const same = known.get(key);
      const owners = [...new Set([...problem.owners, ...(same?.owners ?? [])])];
      const message = same === undefined || problem.kind !== 'failed' ? problem.message : alsoOf(problem, same);
      known.set(key, { ...problem, owners, message });
    }
    const each = [...known.values()];
    super('BOOT_FAILED', each.map(({ message }) => message).join('; '));
    this.problems = each;
  }
}

/** Those that were bound later are more often the cause than what was built of them. */
function alsoOf({ token }: BindingProblem, { message }: BindingProblem): string {
  return token === undefined ? message : `${tokenName(token)}, ${message}`;
}

const MISSING =
  /^No bindings found for service: "(?:Symbol\()?(.*?)\)?"\.\n\nTrying to resolve bindings for "(?:Symbol\()?(.*?)\)?(?: \(Root service\))?"/;
const AMBIGUOUS = /^Ambiguous bindings found for service: "(?:Symbol\()?(.*?)\)?"\./;

/** Who bound what in one container: Inversify's own messages know tokens only. */
export class BindingLedger {
  readonly #owners = new Map<ServiceIdentifier, string[]>();
  readonly #removers = new Map<ServiceIdentifier, string>();

  /** What was bound, in the order of the first time. */
  get ids(): Iterable<ServiceIdentifier> {
    return this.#owners.keys();
  }

  ownersOf(id: ServiceIdentifier): readonly string[] {
    return this.#owners.get(id) ?? [];
  }

  add(owner: string, { bound, rebound, unbound }: Bindings): readonly Replacement[] {
    const replacements: Replacement[] = [];
    for (const id of [...unbound, ...rebound]) {
      const replaced = this.ownersOf(id);
      const again = rebound.includes(id) || bound.includes(id);
      if (again && replaced.length > 0) replacements.push({ service: tokenName(id), replaced });
      if (!again) this.#removers.set(id, owner);
      this.#owners.delete(id);
    }
    for (const id of rebound) this.#owners.set(id, [owner]);
    for (const id of bound) {
      const owners = this.#owners.get(id);
      if (owners === undefined) this.#owners.set(id, [owner]);
      else owners.push(owner);
    }
    return replacements;
  }

  /** Services that more than one binds. */
  ambiguities(): (BindingProblem & { readonly token: ServiceIdentifier })[] {
    return [...this.#owners].flatMap(([id, owners]) => {
      if (owners.length === 1 || isContributionPoint(id)) return [];
      const advice = 'take one of them out, or let it rebind the service';
      const message = `${tokenName(id)} is bound by ${list(owners)}: ${advice}`;
      return [{ kind: 'ambiguous', owners, message, token: id } as const];
    });
  }

  /** What keeps `id` from being built; a failure that follows from an ambiguity says the same as that. */
  explain(id: ServiceIdentifier, thrown: unknown): BindingProblem {
    const owners = this.ownersOf(id);
    const text = describeError(thrown);
    const [, missing, wanter] = MISSING.exec(text) ?? [];
    if (missing !== undefined && wanter !== undefined) {
      const wanting = [...this.#owners].filter(([known]) => wireName(known) === wanter).flatMap(([, who]) => who);
      const token = Symbol.for(missing);
      const who = describe(Symbol.for(wanter), wanting);
      const remover = [...this.#removers].find(([id]) => wireName(id) === missing)?.[1];
      if (remover !== undefined) {
        const message = `nothing provides ${tokenName(token)}, which ${who} needs: ${remover} unbinds it`;
        return { kind: 'missing', owners: [remover], message };
      }
      const message = `nothing provides ${tokenName(token)}, which ${who} needs`;
      return { kind: 'missing', owners: wanting.length === 0 ? owners : wanting, message, token };
    }
    const [, ambiguous] = AMBIGUOUS.exec(text) ?? [];
    const twice = this.ambiguities().find(({ token }) => ambiguous !== undefined && wireName(token) === ambiguous);
    if (twice !== undefined) return twice;
    return { kind: 'failed', owners, message: `${tokenName(id)} cannot be built: ${text}`, token: id, cause: thrown };
  }
}

/** A token as Inversify's messages have it between their brackets. */
function wireName(id: ServiceIdentifier): string {
  if (typeof id === 'symbol') return id.description ?? '';
  return typeof id === 'string' ? id : id.name;
}

/** Of the contributions to a point, Inversify does not say which one it was building. */
function describe(id: ServiceIdentifier, owners: readonly string[]): string {
  if (owners.length === 0) return tokenName(id);
  const each = [...new Set(owners)];
  return `${each.length > 1 ? 'a ' : ''}${tokenName(id)} of ${each.join(' or ')}`;
}

function list(owners: readonly string[]): string {
  return owners.length === 0 ? 'nobody' : [...new Set(owners)].join(' and ');
}
