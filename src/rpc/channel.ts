import { serviceId } from '../kernel/index.js';
import type { JsonRpcTransport, JsonRpcTransportOptions } from '../protocol/index.js';

/** Where the runtime's client is: stdio, or memory. Provided by the host; opened once, by the server. */
export interface RpcChannel {
  open(options: JsonRpcTransportOptions): JsonRpcTransport;
}
/** Runtime scope; bound by the host, as what is behind it decides how the process ends. */
export const RpcChannel = serviceId<RpcChannel>('RpcChannel');

/** The server's end of the conversation. */
export const ServerTransport = serviceId<JsonRpcTransport>('ServerTransport');

/** What the server may ask of the process it runs in. Provided by the host. */
export interface RuntimeControl {
  /** The client has been answered for the first time: warm up. Returns at once. */
  initialized(): void;
  /** Closing has begun on request: from now on it is bounded, whatever hangs. Returns at once. */
  closing(): void;
  /** The conversation is over: close the runtime. Idempotent, returns at once. */
  requestClose(reason: string): void;
}
/** Runtime scope; bound by the host. */
export const RuntimeControl = serviceId<RuntimeControl>('RuntimeControl');
