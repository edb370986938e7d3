import { JsonRpcResponseError } from './errors.js';
import { encodeError, encodeResult, type FrameId, isObject } from './frames.js';
import type { JsonObject, JsonValue } from './json.js';
import type { NotificationHandler, RequestHandler, TransportDiagnostic } from './transport.js';

/**
 * Runs the handlers of one end and sends the answers, each as soon as it is there (core §1.3, §1.4).
 * Nothing that a handler throws gets past it.
 */
export class RequestServer {
  /** Without one every request is answered with -32601. */
  requestHandler: RequestHandler | undefined;
  notificationHandler: NotificationHandler | undefined;
  readonly #send: (frame: string) => void;
  readonly #report: (diagnostic: TransportDiagnostic) => void;

  constructor(send: (frame: string) => void, report: (diagnostic: TransportDiagnostic) => void) {
    this.#send = send;
    this.#report = report;
  }

  /** A notification: params that are no object are heard as `{}`; a handler that fails is reported. */
  hear(method: string, params: JsonValue | undefined): void {
    try {
      const returned: unknown = this.notificationHandler?.(method, isObject(params) ? params : {});
      if (isThenable(returned)) Promise.resolve(returned).catch((cause) => this.#reportFailure(method, cause));
    } catch (cause) {
      this.#reportFailure(method, cause);
    }
  }

  /** A request: answers once, when the handler has returned or its promise has settled. */
  serve(id: FrameId, method: string, params: JsonValue | undefined): void {
    try {
      const handler = this.requestHandler;
      if (handler === undefined) throw JsonRpcResponseError.methodNotFound(`method not found: ${method}`, method);
      const result = handler(method, paramsObject(params));
      if (isThenable(result)) {
        Promise.resolve(result).then(
          (value) => this.#answer(id, value),
          (thrown) => this.fail(id, thrown),
        );
      } else {
        this.#answer(id, result);
      }
    } catch (thrown) {
      this.fail(id, thrown);
    }
  }

  /** Answers with an error without asking the handler. */
  fail(id: FrameId, thrown: unknown): void {
    this.#send(encodeError(id, thrown));
  }

  #answer(id: FrameId, result: unknown): void {
    let frame: string;
    try {
      frame = encodeResult(id, result);
    } catch (thrown) {
      frame = encodeError(id, thrown);
    }
    this.#send(frame);
  }

  #reportFailure(method: string, cause: unknown): void {
    const message = `the handler of notification ${JSON.stringify(method)} failed`;
    this.#report({ kind: 'handler-failed', message, cause });
  }
}

/** @throws JsonRpcResponseError -32602 for an array or a scalar (decision 4) */
function paramsObject(params: JsonValue | undefined): JsonObject {
  if (params === undefined || params === null) return {};
  if (isObject(params)) return params;
  throw JsonRpcResponseError.invalidParams([{ path: '', constraint: 'isObject', message: 'params must be an object' }]);
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}
