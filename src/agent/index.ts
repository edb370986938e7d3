export { Agent, type AgentInit, AgentRegistry, AgentRoute } from './agent.js';
export { PromptSection, type PromptVariables, SystemPrompt } from './prompt.js';
export { type SessionModule, SessionModules } from './session-modules.js';
