import type { FrameTrace, JsonRpcTransport, JsonRpcTransportOptions } from '../protocol/index.js';
import type { RpcChannel } from '../rpc/index.js';

/** A channel whose frames are traced. */
export class TracedChannel implements RpcChannel {
  constructor(
    private readonly channel: RpcChannel,
    private readonly trace: FrameTrace,
  ) {}

  open(options: JsonRpcTransportOptions): JsonRpcTransport {
    return this.channel.open({ ...options, onFrame: this.trace.add });
  }
}
