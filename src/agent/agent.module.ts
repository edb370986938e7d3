import { ContainerModule } from 'inversify';
import { defineModule } from '../kernel/index.js';
import { NotificationListener } from '../session/index.js';
import { AgentRegistry } from './agent.js';
import { AgentConfig } from './agent-config.js';
import { IdleSessions } from './idle-sessions.js';
import { ScopedAgentRegistry } from './scoped-agent-registry.js';

/**
 * Provides {@link AgentRegistry}. Consumes `SessionStore`, `Logger`, `SessionHold`s and {@link SessionModules}, one of
 * which has to bind `Agent` in the session's scope.
 */
export const agentModule = defineModule({
  name: 'agent',
  config: AgentConfig,
  runtime: (config) =>
    new ContainerModule(({ bind }) => {
      bind(AgentConfig).toConstantValue(config);
      bind(IdleSessions).toSelf();
      bind(NotificationListener).toService(IdleSessions);
      bind(AgentRegistry).to(ScopedAgentRegistry);
    }),
});
