import type { JsonObject } from '../../protocol/index.js';
import type { ChatQuirks, ResendReasoning } from '../chat-completions/quirks.js';

/** The provider's name in messages. */
export const DEEPSEEK_NAME = 'DeepSeek';

/** What sets DeepSeek's API apart (core §5.4, 5.5). `thinks`: the request has thinking on. */
export function deepseekQuirks(resendReasoning: ResendReasoning, thinks: boolean): ChatQuirks {
  return {
    name: DEEPSEEK_NAME,
    maxTokensField: 'max_tokens',
    systemRole: 'system',
    streamUsage: true,
    needsDone: true,
    reasoningFields: ['reasoning_content'],
    // Thinking mode refuses a request whose earlier tool calls come without what was thought before them.
    resendReasoning,
    resendReasoningAs: 'reasoning_content',
    emptyReasoning: thinks,
    inventCallIds: false,
  };
}

/** What asks for an effort; `off` turns thinking off. */
export function effortFields(effort: string): JsonObject {
  if (effort === 'off') return { thinking: { type: 'disabled' } };
  return { thinking: { type: 'enabled' }, reasoning_effort: effort };
}
