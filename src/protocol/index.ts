export type { FinishReason, LlmFailure, StreamChunk, TokenUsage } from './chunks.js';
export type {
  AssistantMessage,
  ContentBlock,
  ImageAttachmentRef,
  ImageBlock,
  ImageMediaType,
  InlineImageBlock,
  Message,
  MessageSource,
  ModelSource,
  PromptBlock,
  ReasoningBlock,
  TextBlock,
  ToolCallBlock,
  ToolResultBlock,
  ToolResultMessage,
  UserMessage,
} from './content.js';
export {
  FrameTooLargeError,
  JsonRpcResponseError,
  type ParamsViolation,
  RpcErrorCode,
  SdkProtocolError,
} from './errors.js';
export {
  type CallConfig,
  type CancelCause,
  type InboxTarget,
  isEvent,
  type RequestHeader,
  type SessionEvent,
  type SessionEventMap,
  type SessionEventOf,
  type SessionEventType,
  type SurfaceEventType,
  type SurfaceOp,
  type ToolDefinition,
  type TurnEndReason,
  type UnknownSessionEvent,
} from './events.js';
export { type FrameDirection, type FrameListener, FrameTrace } from './frame-trace.js';
export type { JsonObject, JsonValue } from './json.js';
export { JsonRpcLineTransport } from './line-transport.js';
export { createMemoryTransportPair, MemoryLink } from './memory-transport.js';
export {
  type HarnessNotification,
  type HarnessSdkMethod,
  type HarnessSdkNotificationMap,
  type HarnessSdkNotificationMethod,
  type HarnessSdkRequestMap,
  type InitializeParams,
  type InitializeResult,
  type SdkRunStatus,
  SERVER_NAME,
  type SessionEventNotification,
  type SessionPromptParams,
  type SessionPromptResult,
  type SessionStatusNotification,
  type SubagentFinishedNotification,
  type SubagentStartedNotification,
} from './methods.js';
export { sessionIdProblem } from './session-id.js';
export type {
  JsonRpcTransport,
  JsonRpcTransportOptions,
  JsonRpcTransportPeer,
  NotificationHandler,
  RequestHandler,
  TransportDiagnostic,
} from './transport.js';
