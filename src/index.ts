import 'reflect-metadata';

export { CodedError } from './base/index.js';
export { createRuntime, Runtime, type RuntimeOptions } from './host/index.js';
export { loadProfile, type PatchOperation, type Profile, type ProfileRequest, type Row } from './profile/index.js';
export type {
  AssistantMessage,
  CancelCause,
  ContentBlock,
  FinishReason,
  HarnessNotification,
  JsonObject,
  JsonRpcTransport,
  JsonRpcTransportPeer,
  JsonValue,
  LlmFailure,
  Message,
  SessionEvent,
  SessionEventMap,
  SessionEventOf,
  SessionEventType,
  StreamChunk,
  TokenUsage,
  ToolDefinition,
  ToolResultMessage,
  TurnEndReason,
  UserMessage,
} from './protocol/index.js';
