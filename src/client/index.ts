export type {
  AssistantMessage,
  ContentBlock,
  HarnessNotification,
  HarnessSdkMethod,
  HarnessSdkNotificationMap,
  HarnessSdkNotificationMethod,
  HarnessSdkRequestMap,
  InitializeParams,
  InitializeResult,
  InlineImageBlock,
  JsonObject,
  JsonRpcTransport,
  JsonValue,
  Message,
  PromptBlock,
  SdkRunStatus,
  SessionEvent,
  SessionEventMap,
  SessionEventNotification,
  SessionEventOf,
  SessionEventType,
  SessionPromptParams,
  SessionPromptResult,
  SessionStatusNotification,
  StreamChunk,
  SubagentFinishedNotification,
  SubagentStartedNotification,
  TokenUsage,
  TransportDiagnostic,
  TurnEndReason,
  UserMessage,
} from '../protocol/index.js';
export { FrameTooLargeError, isEvent, JsonRpcResponseError, SdkProtocolError } from '../protocol/index.js';
export { DeepSeekHarness } from './deepseek-harness.js';
export { scrubbedParentEnv } from './environment.js';
export { RequestTimeoutError, TransportClosedError } from './errors.js';
export { HarnessClient } from './harness-client.js';
export { HarnessSession } from './harness-session.js';
export type { RuntimeSource } from './in-process-connection.js';
export { type NotificationFilter, NotificationSubscription } from './notification-subscription.js';
export type {
  DeepSeekHarnessOptions,
  HarnessClientOptions,
  InProcessOptions,
  LaunchCommand,
  ToolSelection,
} from './options.js';
export type { RunInput, RunOptions } from './run.js';
export type { RunError, RunOutcome, RunResult } from './run-result.js';
export type { RuntimeConnection, RuntimeConnector, TransportHooks } from './runtime-connection.js';
