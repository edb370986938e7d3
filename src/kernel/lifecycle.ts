import { contributionPoint } from './tokens.js';

/**
 * Contribution point, runtime scope: takes part in boot and shutdown. Each phase runs in binding order, one at a time;
 * `stop` in reverse. A throw in `start` or `ready` fails the boot; one in `warm` or `stop` is logged. Do I/O here, never in
 * constructors or bindings; what is opened is deferred in the scope.
 */
export interface Startable {
  readonly name: string;
  /** Before anything is accepted. */
  start?(): void | Promise<void>;
  /** When every `start` has succeeded: accept work. */
  ready?(): void;
  /** After the client was told that the runtime is ready: load what a turn needs and the start did not. May fail. */
  warm?(): void | Promise<void>;
  /** First step of shutdown: admit nothing new. What runs is ended afterwards. */
  stop?(): void;
}
/** Collected once, when all services are built; one that a session binds is never run. */
export const Startable = contributionPoint<Startable>('Startable');
