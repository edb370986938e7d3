import type {
  AssistantMessage,
  ContentBlock,
  Message,
  ToolCallBlock,
  ToolResultBlock,
  ToolResultMessage,
} from '../protocol/index.js';

/** What a model is told of a call whose result is not in the history: the step failed, or was interrupted. */
export const NO_RESULT = 'Error: this tool call has no result. It may have run, in part or in full, or not at all.';

/** A call that waits for its result. */
interface Slot {
  readonly call: ToolCallBlock;
  result?: ToolResultMessage;
}
interface Place {
  readonly message: Message;
  readonly slots: readonly Slot[];
}

/**
 * A history as chat APIs demand it: right after each answer stand the results of its calls, one each, in their order,
 * and no result stands anywhere else. A result belongs to the latest call of its id before it. A call without a result
 * gets {@link NO_RESULT}; a result without its call is left out, as is a message that held nothing else. Whatever is in
 * place already is passed by reference.
 */
export function pairToolCalls(messages: readonly Message[]): readonly Message[] {
  const places: Place[] = [];
  const waiting = new Map<string, Slot[]>();
  for (const message of messages) {
    const content: readonly ContentBlock[] = message.content;
    if (message.role === 'assistant') {
      const slots = content.filter(isCall).map((call): Slot => ({ call }));
      // An id that comes back belongs to the newer call from here on.
      for (const { call } of slots) waiting.set(call.id, []);
      for (const slot of slots) waiting.get(slot.call.id)?.push(slot);
      places.push({ message, slots });
      continue;
    }
    const results = content.filter(isResult);
    for (const block of results) {
      const slot = waiting.get(block.toolCallId)?.shift();
      if (slot !== undefined) slot.result = resultMessage(message, block);
    }
    if (results.length === 0) places.push({ message, slots: [] });
    else if (results.length < content.length) places.push({ message: withoutResults(message), slots: [] });
  }
  return places.flatMap(({ message, slots }) => [message, ...slots.map((slot) => answerOf(slot, message))]);
}

function isCall(block: ContentBlock): block is ToolCallBlock {
  return block.type === 'tool-call';
}

function isResult(block: ContentBlock): block is ToolResultBlock {
  return block.type === 'tool-result';
}

function answerOf({ call, result }: Slot, { id }: Message): ToolResultMessage {
  if (result !== undefined) return result;
  const block = {
    type: 'tool-result',
    toolCallId: call.id,
    content: [{ type: 'text', text: NO_RESULT }],
    isError: true,
  } as const;
  return { id: `${id}/${call.id}`, role: 'user', content: [block], source: { kind: 'tool', callId: call.id } };
}

/** The message itself where it holds nothing else. */
function resultMessage(message: Exclude<Message, AssistantMessage>, block: ToolResultBlock): ToolResultMessage {
  if (message.source.kind === 'tool' && message.content.length === 1) return message as ToolResultMessage;
  const source = { kind: 'tool', callId: block.toolCallId } as const;
  return { id: `${message.id}/${block.toolCallId}`, role: 'user', content: [block], source };
}

function withoutResults(message: Exclude<Message, AssistantMessage>): Message {
  return { ...message, content: message.content.filter((block) => !isResult(block)) } as Message;
}
