import { Deferred } from '../base/index.js';
import { createMemoryTransportPair, type JsonRpcTransport, type JsonRpcTransportOptions } from '../protocol/index.js';
import type { RpcChannel } from '../rpc/index.js';

/** A channel whose client lives in the same process. */
export class MemoryChannel implements RpcChannel {
  readonly #client = new Deferred<JsonRpcTransport>();

  open(options: JsonRpcTransportOptions): JsonRpcTransport {
    const [server, client] = createMemoryTransportPair(options);
    this.#client.resolve(client);
    return server;
  }

  /** The client's end, once the server has opened the channel. */
  get client(): Promise<JsonRpcTransport> {
    return this.#client.promise;
  }
}
