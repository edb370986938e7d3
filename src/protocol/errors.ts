import type { JsonValue } from './json.js';

/** JSON-RPC error codes of protocol 1 (decisions, protocol 2 §2). */
export const RpcErrorCode = {
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
} as const;

/** One violated rule of a request's params; `path` as in `contentBlocks[1].text`, `""` for the whole. */
export interface ParamsViolation {
  readonly path: string;
  readonly constraint: string;
  readonly message: string;
}

/** The peer answered with an error; also thrown by a handler that wants a certain code on the wire. */
export class JsonRpcResponseError extends Error {
  override readonly name = 'JsonRpcResponseError';
  /** Absent when the peer sent none, or no number. */
  readonly code: number | undefined;
  readonly data: JsonValue | undefined;

  constructor(message: string, code?: number, data?: JsonValue) {
    super(message);
    this.code = code;
    this.data = data;
  }

  static invalidRequest(message: string): JsonRpcResponseError {
    return new JsonRpcResponseError(message, RpcErrorCode.invalidRequest);
  }
  static methodNotFound(message: string, method: string): JsonRpcResponseError {
    return new JsonRpcResponseError(message, RpcErrorCode.methodNotFound, { method });
  }
  /** The message is the first violation's text. */
  static invalidParams(violations: readonly ParamsViolation[]): JsonRpcResponseError {
    const message = violations[0]?.message ?? 'invalid params';
    return new JsonRpcResponseError(message, RpcErrorCode.invalidParams, {
      violations: violations.map((violation) => ({ ...violation })),
    });
  }
}

/** The peer broke the protocol: an answer or a notification of a shape that the protocol does not allow. */
export class SdkProtocolError extends Error {
  override readonly name = 'SdkProtocolError';
}

/** A frame was longer than the reader's cap; the reader skipped it and lives on. `limit` is in bytes. */
export class FrameTooLargeError extends Error {
  override readonly name = 'FrameTooLargeError';
  readonly code = 'FRAME_TOO_LARGE';
  readonly limit: number;

  constructor(limit: number) {
    super(`a frame exceeds the limit of ${limit} bytes`);
    this.limit = limit;
  }
}
