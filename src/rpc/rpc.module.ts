import { ContainerModule } from 'inversify';
import { defineModule, Startable } from '../kernel/index.js';
import { Logger } from '../logging/index.js';
import { NotificationListener, SessionStore } from '../session/index.js';
import { RpcChannel, ServerTransport } from './channel.js';
import { Dispatcher, JsonRpcDispatcher } from './dispatcher.js';
import { MethodHandler } from './method-handler.js';
import { InitializeHandler } from './methods/initialize.js';
import { SessionPromptHandler } from './methods/session-prompt.js';
import { ShutdownHandler } from './methods/shutdown.js';
import { NotificationProjection } from './notification-projection.js';
import { ClassValidatorParamsGuard, ParamsGuard } from './params-guard.js';
import { PromptImages } from './prompt-images.js';
import { HarnessSdkJsonRpcServer } from './sdk-server.js';
import { ServerState } from './server-state.js';
import { openServerTransport, SdkServerConfig } from './server-transport.js';

/**
 * The wire protocol 1. Provides `Dispatcher`, `ParamsGuard`, `ServerTransport`. Contributes the handlers of
 * `initialize`, `session/prompt`, `shutdown`, a `NotificationListener`, and the server as a `Startable`. Consumes
 * `RpcChannel`, `RuntimeControl`, `SessionStore`, `AgentRegistry`, `AdapterRegistry`, every `MethodHandler`,
 * and, where there is one, the `AttachmentStore`.
 */
export const rpcModule = defineModule({
  name: 'sdk-jsonrpc-server',
  config: SdkServerConfig,
  runtime: (config) =>
    new ContainerModule(({ bind }) => {
      bind(ServerTransport)
        .toResolvedValue(
          (channel: RpcChannel, sessions: SessionStore, logger: Logger) =>
            openServerTransport(config, channel, sessions, logger),
          [RpcChannel, SessionStore, Logger],
        )
        .inSingletonScope();
      bind(ServerState).toSelf();
      bind(PromptImages).toSelf();
      bind(ParamsGuard).to(ClassValidatorParamsGuard);
      bind(Dispatcher).to(JsonRpcDispatcher);
      bind(MethodHandler).to(InitializeHandler);
      bind(MethodHandler).to(SessionPromptHandler);
      bind(MethodHandler).to(ShutdownHandler);
      bind(NotificationListener).to(NotificationProjection);
      bind(Startable).to(HarnessSdkJsonRpcServer);
    }),
});
