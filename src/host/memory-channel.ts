import { type JsonRpcTransport, type JsonRpcTransportOptions, MemoryLink } from '../protocol/index.js';
import type { RpcChannel } from '../rpc/index.js';

/** A channel whose client lives in the same process. */
export class MemoryChannel implements RpcChannel {
  readonly #link = new MemoryLink();
  #client: JsonRpcTransport | undefined;

  open(options: JsonRpcTransportOptions): JsonRpcTransport {
    return this.#link.openA(options);
  }

  /** The client's end, the same each time; it may be used before the server has opened its own. */
  client(options?: JsonRpcTransportOptions): JsonRpcTransport {
    this.#client ??= this.#link.openB(options);
    return this.#client;
  }
}
