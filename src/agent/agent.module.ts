import { ContainerModule } from 'inversify';
import { defineModule } from '../kernel/index.js';
import { AgentRegistry } from './agent.js';
import { ScopedAgentRegistry } from './scoped-agent-registry.js';

/**
 * Provides {@link AgentRegistry}. Consumes `SessionStore`, `Logger` and {@link SessionModules}, one of which has to
 * bind `Agent` in the session's scope.
 */
export const agentModule = defineModule({
  name: 'agent',
  runtime: new ContainerModule(({ bind }) => {
    bind(AgentRegistry).to(ScopedAgentRegistry);
  }),
});
