import { contributionPoint } from './tokens.js';

/**
 * Contribution point: something to do before requests are accepted. Runs in binding order, one at a time; a throw
 * fails the boot. Do I/O here, never in constructors or bindings. What it opens, it defers in its scope.
 */
export interface Startable {
  readonly name: string;
  start(): void | Promise<void>;
}
export const Startable = contributionPoint<Startable>('Startable');
