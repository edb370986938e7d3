import type { FrameListener } from './frame-trace.js';
import type { JsonObject } from './json.js';

/**
 * Serves requests. What it returns is the result (`undefined` answers `null`); what it throws is the error. Params that
 * are an array or a scalar never reach it: -32602.
 */
export type RequestHandler = (method: string, params: JsonObject) => unknown;
/** Hears notifications. Must not throw; a throw is contained and reported as a diagnostic. */
export type NotificationHandler = (method: string, params: JsonObject) => void;

/** One end of a JSON-RPC conversation, as server and client are typed against it. */
export interface JsonRpcTransportPeer {
  /**
   * Sends a request and settles with its answer.
   *
   * @param signal already aborted: rejects without writing. Aborted while pending: rejects with the reason, the late
   *   answer is ignored.
   * @throws JsonRpcResponseError the peer answered with an error
   * @throws SdkProtocolError the answer is neither a result nor an error object
   * @throws FrameTooLargeError a frame over the cap was skipped, which may have been the answer (decision 10)
   * @throws Error `JSON-RPC transport closed`, `JSON-RPC input closed`, or the stream's error
   */
  request(method: string, params?: object, signal?: AbortSignal): Promise<unknown>;
  /**
   * Queues a notification; everything queued in one tick leaves in one write.
   *
   * @returns nothing while the output keeps up, else a promise to await before sending more (it always fulfils)
   */
  notify(method: string, params?: object): void | Promise<void>;
}

/** A peer with its lifetime. `close()` detaches and rejects what is pending; the streams stay the caller's. */
export interface JsonRpcTransport extends JsonRpcTransportPeer {
  /** Attaches to the input. Install handlers first. Idempotent. */
  start(): void;
  /** At most one handler; without one every request is answered with -32601 `method not found: <method>`. */
  onRequest(handler: RequestHandler): void;
  onNotification(handler: NotificationHandler): void;
  /**
   * As {@link JsonRpcTransportPeer.notify}, with params that are JSON text already: stringified once, spliced in. The
   * text is `head`, `body` and `tail` together; a long `body` is sent without being copied as a whole.
   */
  notifyEncoded(method: string, head: string, body?: string, tail?: string): void | Promise<void>;
  /** Settles when all that was sent before has been accepted by the output; an output failure rejects it. */
  flush(): Promise<void>;
  /**
   * Ends the conversation: pending requests reject with `JSON-RPC transport closed`, what is queued goes to the output
   * at once. Idempotent.
   */
  close(): void;
  /** Settles once, when the conversation is over: `undefined` after close or end of input, else the stream's error. */
  readonly closed: Promise<Error | undefined>;
}

/** What a transport may be told besides its streams. */
export interface JsonRpcTransportOptions {
  /** Longest frame that is read, in bytes without the newline. Default 128 MiB. */
  readonly maxFrameBytes?: number;
  /**
   * Runs before each write, after the frames of the tick were collected; a promise delays the write and all later
   * ones. This is how an event is in its log before it is on the wire. A throw or rejection is reported, and the
   * frames leave all the same.
   */
  readonly beforeWrite?: () => void | Promise<void>;
  /** Hears what was dropped or contained: junk on the channel, handlers that threw. Must not throw. */
  readonly onDiagnostic?: (diagnostic: TransportDiagnostic) => void;
  /** Hears of frames over the cap that could not be answered. Must not throw. */
  readonly onFrameTooLarge?: (limit: number) => void;
  /** Hears every line that is read and every frame that is queued, in order (decision 43). Must not throw. */
  readonly onFrame?: FrameListener;
  /** Characters queued beyond which `notify` asks its caller to wait. Default 64 Mi. */
  readonly highWaterMark?: number;
}

/** Something that went wrong and that the conversation survived; `message` is one line for people. */
export interface TransportDiagnostic {
  readonly kind: 'junk' | 'frame-too-large' | 'handler-failed' | 'write-failed' | 'trace-failed';
  readonly message: string;
  /** Junk lines since the last report (one report a burst). */
  readonly count?: number;
  readonly cause?: unknown;
}
