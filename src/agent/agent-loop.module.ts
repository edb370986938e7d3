import { ContainerModule } from 'inversify';
import { defineModule } from '../kernel/index.js';
import { Agent } from './agent.js';
import { AgentLoopConfig } from './agent-loop-config.js';
import { Inbox } from './inbox.js';
import { LoopAgent } from './loop-agent.js';
import { ModelCaller } from './model-caller.js';
import { SessionHooks } from './session-hooks.js';
import { StepRunner } from './step-runner.js';
import { ToolScheduler } from './tool-scheduler.js';
import { TurnLoop } from './turn-loop.js';

/**
 * Provides {@link Agent} in each session's scope. Consumes `Session`, `AgentRoute`, `AdapterRegistry`, `ToolExecutor`,
 * `Notifications`, and, where there are any, `SystemPrompt`, `PromptSection`s and hooks.
 */
export const agentLoopModule = defineModule({
  name: 'agent-loop',
  config: AgentLoopConfig,
  session: (config) =>
    new ContainerModule(({ bind }) => {
      bind(AgentLoopConfig).toConstantValue(config);
      for (const part of [Inbox, SessionHooks, ModelCaller, ToolScheduler, StepRunner, TurnLoop]) {
        bind<object>(part).toSelf();
      }
      bind(Agent).to(LoopAgent);
    }),
});
