import type { Newable } from 'inversify';
import { contributionPoint } from '../kernel/index.js';

/**
 * Contribution point, runtime scope: one JSON-RPC method. One handler a method; two fail the boot.
 *
 * What it throws is the error: a `JsonRpcResponseError` as it stands, anything else as -32603 with its message.
 */
export interface MethodHandler<P extends object = object, R = unknown> {
  readonly method: string;
  /** The DTO class that guards the params: its members are the known ones, others are ignored. */
  readonly params: Newable<P>;
  handle(params: P): R | Promise<R>;
}
/** Collected when the dispatcher is built; a module may add methods of its own. */
export const MethodHandler = contributionPoint<MethodHandler>('MethodHandler');
