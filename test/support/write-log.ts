import { PassThrough, Writable } from 'node:stream';
import {
  JsonRpcLineTransport,
  type JsonRpcTransportOptions,
  type TransportDiagnostic,
} from '../../src/protocol/index.js';
import { framesOf } from './transport-rig.js';

/** An output that keeps every write apart and accepts it when told to, at once by default. */
export class WriteLog extends Writable {
  readonly writes: string[] = [];
  readonly #accepts: (() => void)[] = [];
  held = false;

  override _write(chunk: Buffer, _encoding: BufferEncoding, accept: () => void): void {
    this.writes.push(chunk.toString());
    if (this.held) this.#accepts.push(accept);
    else accept();
  }

  acceptOne(): void {
    this.#accepts.shift()?.();
  }

  get methods(): unknown[][] {
    return this.writes.map((text) => framesOf(text).map(({ method }) => method));
  }
}

/** A transport whose writes the test looks at. */
export function openWriter(options: JsonRpcTransportOptions = {}, output = new WriteLog()) {
  const diagnostics: TransportDiagnostic[] = [];
  const transport = new JsonRpcLineTransport(new PassThrough(), output, {
    onDiagnostic: (diagnostic) => diagnostics.push(diagnostic),
    ...options,
  });
  return { transport, output, diagnostics };
}
