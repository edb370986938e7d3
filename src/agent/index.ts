export { Agent, type AgentInit, AgentRegistry, type AgentRoute } from './agent.js';
export { PromptSection, type PromptVariables, SystemPrompt } from './prompt.js';
