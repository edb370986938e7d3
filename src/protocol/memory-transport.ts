import { Transform } from 'node:stream';
import { JsonRpcLineTransport } from './line-transport.js';
import type { JsonRpcTransport, JsonRpcTransportOptions } from './transport.js';

/**
 * One conversation inside the process: JSON text in between, delivered in order and asynchronously. Each end is opened
 * once, in any order; what is said to one that is not open yet waits for it. Closing an end ends the other with
 * `JSON-RPC input closed`, after what was sent before.
 */
export class MemoryLink {
  readonly #toA = channel();
  readonly #toB = channel();

  openA(options?: JsonRpcTransportOptions): JsonRpcTransport {
    return connect(this.#toA, this.#toB, options);
  }

  openB(options?: JsonRpcTransportOptions): JsonRpcTransport {
    return connect(this.#toB, this.#toA, options);
  }
}

/** Both ends of a {@link MemoryLink}. */
export function createMemoryTransportPair(
  optionsA?: JsonRpcTransportOptions,
  optionsB?: JsonRpcTransportOptions,
): [JsonRpcTransport, JsonRpcTransport] {
  const link = new MemoryLink();
  return [link.openA(optionsA), link.openB(optionsB)];
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
