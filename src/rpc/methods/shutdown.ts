import { inject, injectable } from 'inversify';
import { AgentRegistry } from '../../agent/index.js';
import type { JsonRpcTransport } from '../../protocol/index.js';
import { RuntimeControl, ServerTransport } from '../channel.js';
import type { MethodHandler } from '../method-handler.js';
import { ServerState } from '../server-state.js';

/** No members: whatever is sent is ignored. */
export class ShutdownParamsDto {}

/**
 * `shutdown` (core §1.7, as scope has it): running turns are aborted, their closing events and statuses are sent, then
 * the answer; after the answer the runtime closes. Repeated calls get the same settlement.
 */
@injectable()
export class ShutdownHandler implements MethodHandler<ShutdownParamsDto, Record<string, never>> {
  readonly method = 'shutdown';
  readonly params = ShutdownParamsDto;
  #settlement: Promise<Record<string, never>> | undefined;

  constructor(
    @inject(ServerState) private readonly state: ServerState,
    @inject(AgentRegistry) private readonly agents: AgentRegistry,
    @inject(ServerTransport) private readonly transport: JsonRpcTransport,
    @inject(RuntimeControl) private readonly control: RuntimeControl,
  ) {}

  handle(): Promise<Record<string, never>> {
    this.#settlement ??= this.#shutdown();
    return this.#settlement;
  }

  async #shutdown(): Promise<Record<string, never>> {
    this.state.close();
    this.control.closing();
    try {
      await this.agents.closeAll();
      return {};
    } catch (thrown) {
      if (!(thrown instanceof AggregateError)) throw thrown;
      throw thrown.errors.length === 1
        ? thrown.errors[0]
        : new AggregateError(thrown.errors, 'SDK server teardown failed');
    } finally {
      // The answer is queued in this tick; the runtime closes once it has left.
      setImmediate(() => void this.#closeRuntime());
    }
  }

  async #closeRuntime(): Promise<void> {
    await this.transport.flush().catch(() => undefined);
    this.control.requestClose('shutdown request');
  }
}
