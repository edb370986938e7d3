import { JsonRpcLineTransport, type JsonRpcTransport } from '../protocol/index.js';
import { settlesWithin } from './bounds.js';
import { ClosedReason, TransportClosedError } from './errors.js';
import { planLaunch } from './launch.js';
import { type HarnessClientOptions, timeBounds } from './options.js';
import type { RuntimeConnection, TransportHooks } from './runtime-connection.js';
import { RuntimeProcess } from './runtime-process.js';
import { TemporaryPatch } from './temporary-patch.js';

/** After the channel broke, how long the exit of the process is waited for, so that the error can tell it. */
const exitWaitMs = 250;

/** A runtime in a child process, over its stdin and stdout. */
export class ProcessConnection implements RuntimeConnection {
  readonly transport: JsonRpcTransport;
  readonly ended: Promise<TransportClosedError>;
  readonly label: string | undefined;
  readonly #process: RuntimeProcess;
  readonly #eofGraceMs: number;
  readonly #graceMs: number;
  #closing = false;

  /** Starts the process. @throws Error naming what keeps it from starting */
  constructor(options: HarnessClientOptions, hooks: TransportHooks) {
    const bounds = timeBounds(options);
    this.#eofGraceMs = bounds.disposeEofGraceMs;
    this.#graceMs = bounds.disposeGraceMs;
    const patch = TemporaryPatch.of(options);
    try {
      const plan = planLaunch(options, patch?.path);
      this.label = plan.label;
      this.#process = new RuntimeProcess(plan);
    } catch (thrown) {
      patch?.remove();
      throw thrown;
    }
    void this.#process.drained.then(() => patch?.remove());
    const { onStderr, onDiagnostic } = options;
    if (onStderr !== undefined) this.#process.stderr.listen(contained(onStderr, onDiagnostic));
    this.transport = new JsonRpcLineTransport(this.#process.stdout, this.#process.stdin, hooks);
    this.ended = this.#end();
  }

  get stderrTail(): readonly string[] {
    return this.#process.stderr.lines;
  }

  failure(reason: string): TransportClosedError {
    return new TransportClosedError(reason, { ...this.#process.exit, stderrTail: this.stderrTail });
  }

  note(line: string): void {
    this.#process.stderr.note(line);
  }

  async close(): Promise<void> {
    this.#closing = true;
    try {
      await this.#process.terminate(this.#eofGraceMs, this.#graceMs);
    } finally {
      this.transport.close();
      await this.ended;
    }
  }

  async #end(): Promise<TransportClosedError> {
    const over = this.transport.closed.then((error) => error?.message ?? ClosedReason.inputClosed);
    const drained = this.#process.drained.then(() => {
      this.#process.stderr.end();
      return undefined;
    });
    const brokenBy = await Promise.race([over, drained]);
    await settlesWithin(drained, exitWaitMs);
    this.transport.close();
    return this.failure(this.#reason(brokenBy));
  }

  #reason(brokenBy: string | undefined): string {
    if (this.#process.exit?.spawnError !== undefined) return ClosedReason.failedToStart;
    if (this.#closing) return ClosedReason.closed;
    return this.#process.exit === undefined && brokenBy !== undefined ? brokenBy : ClosedReason.exited;
  }
}

function contained(
  onStderr: (line: string) => void,
  onDiagnostic: HarnessClientOptions['onDiagnostic'],
): (line: string) => void {
  return (line) => {
    try {
      onStderr(line);
    } catch (cause) {
      onDiagnostic?.({ kind: 'handler-failed', message: 'onStderr failed', cause });
    }
  };
}
