import type { ServiceIdentifier } from 'inversify';

/**
 * Token of a service: one implementation, replaceable. Declared beside its interface under the same name.
 *
 * `Symbol.for` keeps identity when a plugin carries its own copy of this package, so names are an interface:
 * `dsh/service/<name>`.
 */
export function serviceId<T>(name: string): ServiceIdentifier<T> {
  return Symbol.for(`${SERVICE_PREFIX}${name}`);
}

/** Token of a contribution point: any number of contributions, in binding order; unbound is `[]`. */
export function contributionPoint<T>(name: string): ServiceIdentifier<T> {
  return Symbol.for(`${CONTRIBUTION_PREFIX}${name}`);
}

/** Whether {@link contributionPoint} made this id, in any copy of this package. */
export function isContributionPoint(id: ServiceIdentifier): boolean {
  return typeof id === 'symbol' && (Symbol.keyFor(id)?.startsWith(CONTRIBUTION_PREFIX) ?? false);
}

/** A token as people read it in a message. */
export function tokenName(id: ServiceIdentifier): string {
  if (typeof id === 'symbol') return Symbol.keyFor(id)?.replace(/^dsh\/(service|contribution)\//, '') ?? id.toString();
  return typeof id === 'string' ? id : id.name;
}

const SERVICE_PREFIX = 'dsh/service/';
const CONTRIBUTION_PREFIX = 'dsh/contribution/';
