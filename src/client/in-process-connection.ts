import { toError } from '../base/index.js';
import type { JsonRpcTransport, JsonRpcTransportOptions } from '../protocol/index.js';
import { ClosedReason, TransportClosedError } from './errors.js';
import type { RuntimeConnection, TransportHooks } from './runtime-connection.js';

/** A runtime in this process, as `createRuntime` makes it. */
export interface RuntimeSource {
  /** The client's end of its channel. Not started; what is sent before the runtime is ready waits. */
  connect(options?: JsonRpcTransportOptions): JsonRpcTransport;
  /** Settles when the runtime is ready. Idempotent. */
  start(): Promise<void>;
  /** Ends it. Idempotent. */
  close(): Promise<void>;
}

/** A runtime without a process of its own: closing the connection closes it. */
export class InProcessConnection implements RuntimeConnection {
  readonly transport: JsonRpcTransport;
  readonly ended: Promise<TransportClosedError>;
  readonly label = 'DeepSeek Harness runtime in this process';
  readonly stderrTail: readonly string[] = [];
  readonly #source: RuntimeSource;
  #bootFailure: Error | undefined;

  constructor(source: RuntimeSource, hooks: TransportHooks) {
    this.#source = source;
    this.transport = source.connect(hooks);
    source.start().catch((thrown: unknown) => {
      this.#bootFailure = toError(thrown);
      this.transport.close();
    });
    this.ended = this.transport.closed.then(() =>
      this.failure(this.#bootFailure === undefined ? ClosedReason.closed : ClosedReason.failedToStart),
    );
  }

  failure(reason: string): TransportClosedError {
    const cause = this.#bootFailure;
    if (cause === undefined) return new TransportClosedError(reason);
    return new TransportClosedError(`${reason}: ${cause.message}`, {}, { cause });
  }

  /** The runtime's diagnostics go to this process's stderr: there is nothing to keep. */
  note(): void {}

  async close(): Promise<void> {
    try {
      await this.#source.close();
    } finally {
      this.transport.close();
      await this.ended;
    }
  }
}
