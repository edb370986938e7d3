/** Every event type that this version reads (core §2.3); what plugins of the reference wrote is among them. */
const KNOWN: ReadonlySet<string> = new Set([
  'turn/start',
  'turn/end',
  'step/start',
  'step/end',
  'user/message',
  'assistant/chunk',
  'assistant/message',
  'tool/call',
  'tool/result',
  'request/header',
  'request/context',
  'agent/inbox/spliced',
  'session/title',
  'session/end-seed',
  'llm/retry',
  'llm/retry-started',
  'compaction/start',
  'compaction/summary',
  'compaction/end',
  'compaction/prune',
  'todo/write',
  'subagent/descriptor',
  'agent-preset/selected',
  'approval/policy',
  'approval/asked',
  'approval/decided',
  'command/run',
  'command/done',
  'feedback/record',
  'goal/change',
  'hook/invoked',
  'hook/result',
  'permission/preset',
  'plan/mode',
  'sandbox/mode',
  'schedule/change',
  'session/title-llm-request',
  'web/deepseek-search-llm-request',
  'team/member',
  'team/task',
  'team/message/queued',
  'team/message/delivered',
  'tool/code-dispatch-start',
  'tool/code-dispatch',
  'tool-workflow/run-start',
  'tool-workflow/agent-start',
  'tool-workflow/agent-end',
  'tool-workflow/run-end',
]);

/** Whether a log may hold this type without `ignorable`. */
export function isKnownEventType(type: string): boolean {
  return KNOWN.has(type);
}

/** Whether events of this type carry a message into the model-visible history (core §2.2). */
export function isSurfaceEventType(type: string): boolean {
  return type === 'user/message' || type === 'assistant/message' || type === 'tool/result';
}
