import { Transform } from 'node:stream';
import { JsonRpcLineTransport } from './line-transport.js';
import type { JsonRpcTransport, JsonRpcTransportOptions } from './transport.js';

/**
 * Two ends of one conversation inside the process: JSON text in between, delivered in order and asynchronously.
 * Closing an end ends the other with `JSON-RPC input closed`, after what was sent before.
 */
export function createMemoryTransportPair(
  optionsA?: JsonRpcTransportOptions,
  optionsB?: JsonRpcTransportOptions,
): [JsonRpcTransport, JsonRpcTransport] {
  const toA = channel();
  const toB = channel();
  return [connect(toA, toB, optionsA), connect(toB, toA, optionsB)];
}

function channel(): Transform {
  return new Transform({ transform: (chunk, _encoding, done) => process.nextTick(done, null, chunk) });
}

function connect(input: Transform, output: Transform, options?: JsonRpcTransportOptions): JsonRpcTransport {
  const transport = new JsonRpcLineTransport(input, output, options);
  const hangUp = (): void => {
    if (input.readableEnded) return; // the other end hung up first, and discards
    output.end();
    input.resume();
  };
  void transport.closed.then(() => transport.flush()).then(hangUp, hangUp);
  return transport;
}
