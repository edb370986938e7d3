import type { Message, ToolResultMessage } from '../protocol/index.js';

/**
 * The history as a model can be asked with it: each tool call has its result. A step may end without some (core §2.13),
 * as when a hook broke it, and no log is changed for that; but providers refuse a history that has a call without a
 * result. A frozen list, which depends on the messages alone.
 */
export function requestHistory(messages: readonly Message[]): readonly Message[] {
  const answered: Message[] = [];
  let open: string[] = [];
  for (const message of messages) {
    if (message.source.kind === 'tool') {
      const at = open.indexOf(message.source.callId);
      if (at >= 0) open.splice(at, 1);
    } else {
      answered.push(...open.map(unanswered));
      open = message.content.flatMap((block) => (block.type === 'tool-call' ? [block.id] : []));
    }
    answered.push(message);
  }
  answered.push(...open.map(unanswered));
  return Object.freeze(answered);
}

function unanswered(callId: string): ToolResultMessage {
  const text = 'Error: no result of this call was recorded; look at what it may have done before you repeat it';
  const content = [
    { type: 'tool-result', toolCallId: callId, content: [{ type: 'text', text }], isError: true },
  ] as const;
  return { id: `unanswered-tool-result-${callId}`, role: 'user', content, source: { kind: 'tool', callId } };
}
