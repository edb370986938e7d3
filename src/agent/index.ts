export { Agent, type AgentInit, AgentRegistry, AgentRoute } from './agent.js';
export {
  AfterToolCall,
  BeforeStep,
  BeforeToolCall,
  type HookContext,
  RequestMiddleware,
  type StepDecision,
  type ToolCallDecision,
  type ToolCallReview,
  TurnStopping,
} from './hooks.js';
export { PromptSection, type PromptVariables, SystemPrompt } from './prompt.js';
export { SessionHold } from './session-hold.js';
export { type SessionModule, SessionModules } from './session-modules.js';
