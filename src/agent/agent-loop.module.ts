import { ContainerModule } from 'inversify';
import { defineModule } from '../kernel/index.js';
import { Agent } from './agent.js';
import { Inbox } from './inbox.js';
import { LoopAgent } from './loop-agent.js';
import { StepRunner } from './step-runner.js';
import { ToolScheduler } from './tool-scheduler.js';
import { TurnLoop } from './turn-loop.js';

/**
 * Provides {@link Agent} in each session's scope. Consumes `Session`, `AgentRoute`, `AdapterRegistry`, `ToolExecutor`,
 * `Notifications`, and, where there are any, `SystemPrompt` and `PromptSection`s.
 */
export const agentLoopModule = defineModule({
  name: 'agent-loop',
  session: new ContainerModule(({ bind }) => {
    for (const part of [Inbox, ToolScheduler, StepRunner, TurnLoop]) bind<object>(part).toSelf();
    bind(Agent).to(LoopAgent);
  }),
});
