export {
  AfterToolCall,
  Agent,
  AgentRegistry,
  BeforeStep,
  BeforeToolCall,
  type HookContext,
  PromptSection,
  RequestMiddleware,
  SessionHold,
  type StepDecision,
  SystemPrompt,
  type ToolCallDecision,
  type ToolCallReview,
  TurnStopping,
} from '../agent/index.js';
export { AttachmentStore, ImageAdmissionError, type InlineImage } from '../attachment/index.js';
export {
  CurrentScope,
  contributionPoint,
  Describe,
  Environment,
  type ModuleDefinition,
  type ModuleSpec,
  Scope,
  Startable,
  serviceId,
} from '../kernel/index.js';
export { Logger } from '../logging/index.js';
export {
  AdapterRegistry,
  LlmError,
  ModelAdapter,
  type ModelInfo,
  type ModelRequest,
  type PreparedCall,
  PriceTable,
  type ProviderInfo,
} from '../model/index.js';
export { MethodHandler } from '../rpc/index.js';
export {
  NotificationListener,
  Session,
  SessionParticipant,
  SessionRepository,
  SessionStore,
} from '../session/index.js';
export { Tool, type ToolCallContext } from '../tool/index.js';
export { definePlugin } from './define-plugin.js';
