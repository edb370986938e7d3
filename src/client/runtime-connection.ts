import type { JsonRpcTransport, JsonRpcTransportOptions } from '../protocol/index.js';
import type { TransportClosedError } from './errors.js';

/** A conversation with a runtime and its lifetime: what a `HarnessClient` works on, whatever is at the other end. */
export interface RuntimeConnection {
  /** Not started yet; whoever opened the connection installs handlers and starts it. */
  readonly transport: JsonRpcTransport;
  /** Settles once, when nothing more will arrive and all that arrived was delivered. Never rejects. */
  readonly ended: Promise<TransportClosedError>;
  /** What messages call the runtime: `dsh profile "sdk"`. */
  readonly label: string | undefined;
  /** The last lines of the runtime's stderr. */
  readonly stderrTail: readonly string[];
  /** An error with what is known about the runtime now. */
  failure(reason: string): TransportClosedError;
  /** Leaves a line beside the runtime's stderr, for the errors to come. */
  note(line: string): void;
  /**
   * Ends the runtime, if need be by force, and settles when it is gone; `ended` settles too. The shutdown request was
   * the caller's.
   *
   * @throws Error the runtime could not be ended; a later call tries again
   */
  close(): Promise<void>;
}

/** What a connection's transport must be made with. */
export type TransportHooks = Pick<
  JsonRpcTransportOptions,
  'maxFrameBytes' | 'onDiagnostic' | 'onFrame' | 'onFrameTooLarge'
>;

/** Opens a connection. @throws Error why the runtime cannot be started */
export type RuntimeConnector = (hooks: TransportHooks) => RuntimeConnection;
