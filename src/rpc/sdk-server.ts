import { inject, injectable } from 'inversify';
import { describeError } from '../base/index.js';
import { CurrentScope, type Scope, type Startable } from '../kernel/index.js';
import { Logger } from '../logging/index.js';
import type { JsonRpcTransport } from '../protocol/index.js';
import { RuntimeControl, ServerTransport } from './channel.js';
import { Dispatcher } from './dispatcher.js';
import { ServerState } from './server-state.js';

/**
 * The SDK server: ties transport, dispatcher and notification projection. It reads its first frame when the whole
 * runtime is ready, which makes `initialize` the readiness barrier; what arrived before waits in the input.
 */
@injectable()
export class HarnessSdkJsonRpcServer implements Startable {
  readonly name = 'sdk-jsonrpc-server';
  readonly #logger: Logger;

  constructor(
    @inject(ServerTransport) private readonly transport: JsonRpcTransport,
    @inject(Dispatcher) private readonly dispatcher: Dispatcher,
    @inject(ServerState) private readonly state: ServerState,
    @inject(RuntimeControl) private readonly control: RuntimeControl,
    @inject(CurrentScope) scope: Scope,
    @inject(Logger) logger: Logger,
  ) {
    this.#logger = logger.child('rpc');
    scope.defer('SDK server', () => this.#close());
  }

  ready(): void {
    this.transport.onRequest((method, params) => this.dispatcher.dispatch(method, params));
    this.transport.onNotification((method) => this.#logger.debug('notification ignored', { method }));
    void this.transport.closed.then((error) => {
      if (error !== undefined) this.#logger.info('client is gone', { error });
      this.control.requestClose(error === undefined ? 'end of input' : describeError(error));
    });
    this.transport.start();
  }

  stop(): void {
    this.state.close();
  }

  async #close(): Promise<void> {
    await this.transport.flush().catch(() => undefined);
    this.transport.close();
  }
}
