import type { Readable, Writable } from 'node:stream';
import { JsonRpcLineTransport, type JsonRpcTransport, type JsonRpcTransportOptions } from '../protocol/index.js';
import type { RpcChannel } from '../rpc/index.js';

/** The parent process at the other end of stdin and stdout. */
export class StdioChannel implements RpcChannel {
  constructor(
    private readonly stdin: Readable,
    private readonly stdout: Writable,
  ) {}

  open(options: JsonRpcTransportOptions): JsonRpcTransport {
    return new JsonRpcLineTransport(this.stdin, this.stdout, options);
  }
}
