import { inject, injectable, multiInject, optional } from 'inversify';
import { CodedError, errorCode } from '../base/index.js';
import { serviceId } from '../kernel/index.js';
import { type JsonObject, JsonRpcResponseError, RpcErrorCode } from '../protocol/index.js';
import type { LeaseHolder } from '../session/index.js';
import { MethodHandler } from './method-handler.js';
import { ParamsGuard } from './params-guard.js';
import { ServerState } from './server-state.js';

/** Finds the handler of a method, guards its params, runs it. */
export interface Dispatcher {
  /** @throws JsonRpcResponseError -32601 for an unknown method, -32602 for its params, and what the handler throws */
  dispatch(method: string, params: JsonObject): Promise<unknown>;
}
/** Runtime scope; what the server hands every request to. */
export const Dispatcher = serviceId<Dispatcher>('Dispatcher');

/**
 * Serves what {@link MethodHandler}s are contributed. Requests wait, once judged, for an `initialize` in flight
 * (decision 8).
 */
@injectable()
export class JsonRpcDispatcher implements Dispatcher {
  readonly #handlers = new Map<string, MethodHandler>();

  /** @throws CodedError `DUPLICATE_METHOD` */
  constructor(
    @multiInject(MethodHandler) @optional() handlers: readonly MethodHandler[],
    @inject(ParamsGuard) private readonly guard: ParamsGuard,
    @inject(ServerState) private readonly state: ServerState,
  ) {
    for (const handler of handlers) {
      if (this.#handlers.has(handler.method)) {
        throw new CodedError('DUPLICATE_METHOD', `two handlers serve the method ${JSON.stringify(handler.method)}`);
      }
      this.#handlers.set(handler.method, handler);
    }
  }

  async dispatch(method: string, params: JsonObject): Promise<unknown> {
    const handler = this.#handlers.get(method);
    if (handler === undefined) {
      throw JsonRpcResponseError.methodNotFound(`unknown DeepSeek Harness SDK runtime method: ${method}`, method);
    }
    const judged = this.guard.judge(handler.params, params);
    while (this.state.settled !== undefined) await this.state.settled;
    try {
      return await handler.handle(judged);
    } catch (thrown) {
      throw withFacts(thrown);
    }
  }
}

/** What keeps a session from being used; a client can act on them. */
const SESSION_CODES: ReadonlySet<string> = new Set([
  'LEASE_LOST',
  'SESSION_CORRUPT',
  'SESSION_DAMAGED',
  'SESSION_FORMAT_UNSUPPORTED',
  'SESSION_LEASED',
  'STORE_FAILED',
]);

/** Such a failure is told with its code, and where another runtime has the session, with its holder. */
function withFacts(thrown: unknown): unknown {
  const code = errorCode(thrown);
  if (code === undefined || !SESSION_CODES.has(code)) return thrown;
  const { message, holder } = thrown as Error & { readonly holder?: LeaseHolder };
  return new JsonRpcResponseError(message, RpcErrorCode.internal, {
    code,
    ...(holder !== undefined && { holder: { ...holder } }),
  });
}
