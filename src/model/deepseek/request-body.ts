import type { ContentBlock, JsonObject, Message, ToolCallBlock, ToolDefinition } from '../../protocol/index.js';
import type { ModelRequest } from '../adapter.js';
import { LlmError } from '../errors.js';

/** What is posted to `/chat/completions`, under the API's own names (core §5.4). */
export interface DeepSeekRequestBody {
  readonly model: string;
  readonly stream: true;
  readonly stream_options: { readonly include_usage: true };
  readonly thinking?: { readonly type: 'enabled' | 'disabled' };
  readonly reasoning_effort?: string;
  readonly temperature?: number;
  readonly max_tokens?: number;
  readonly stop?: readonly string[];
  readonly messages: readonly DeepSeekMessage[];
  readonly tools?: readonly DeepSeekTool[];
}
/** A message as the API takes it; `content` is always a string, empty rather than absent. */
export type DeepSeekMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string }
  | {
      readonly role: 'assistant';
      readonly content: string;
      readonly reasoning_content?: string;
      readonly tool_calls?: readonly DeepSeekToolCall[];
    };
interface DeepSeekToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}
interface DeepSeekTool {
  readonly type: 'function';
  readonly function: { readonly name: string; readonly description: string; readonly parameters: JsonObject };
}

/**
 * The JSON of a request body. Lone surrogates, which the API refuses, become U+FFFD wherever they stand, so that a
 * call's id still is that of its result.
 *
 * @throws what {@link buildRequestBody} throws
 */
export function writeRequestBody(...parameters: Parameters<typeof buildRequestBody>): string {
  const json = JSON.stringify(buildRequestBody(...parameters));
  // The only escapes of this kind are those of lone surrogates; an escaped backslash is skipped as a whole.
  return json.includes('\\ud') ? json.replace(/\\(?:ud[89a-f]..|.)/g, wellFormedEscape) : json;
}

function wellFormedEscape(sequence: string): string {
  return sequence.length > 2 ? '\\ufffd' : sequence;
}

/**
 * The body of a chat completion request (core §5.4). Block types it does not know are skipped.
 *
 * @throws LlmError `UNSUPPORTED_CONTENT` for an image: there is no attachment store to read it from
 */
export function buildRequestBody(
  request: Pick<ModelRequest, 'config' | 'system' | 'messages' | 'tools'>,
  thinking?: 'enabled' | 'disabled',
): DeepSeekRequestBody {
  const { config, system, tools } = request;
  const messages = request.messages.flatMap((message) => wireMessages(message, config.model));
  return {
    model: config.model,
    stream: true,
    stream_options: { include_usage: true },
    ...thinkingFields(config.reasoningEffort, thinking),
    ...(config.temperature !== undefined && { temperature: config.temperature }),
    ...(config.maxTokens !== undefined && { max_tokens: config.maxTokens }),
    ...(config.stop !== undefined && { stop: config.stop }),
    messages: system === undefined ? messages : [{ role: 'system', content: system }, ...messages],
    ...(tools !== undefined && tools.length > 0 && { tools: tools.map(wireTool) }),
  };
}

function wireTool({ name, description, parameters }: ToolDefinition): DeepSeekTool {
  return { type: 'function', function: { name, description, parameters } };
}

function thinkingFields(
  effort: string | undefined,
  thinking: 'enabled' | 'disabled' | undefined,
): Pick<DeepSeekRequestBody, 'thinking' | 'reasoning_effort'> {
  if (effort === 'off' || thinking === 'disabled') return { thinking: { type: 'disabled' } };
  if (effort !== undefined) return { thinking: { type: 'enabled' }, reasoning_effort: effort };
  return thinking === undefined ? {} : { thinking: { type: thinking } };
}

function wireMessages(message: Message, model: string): DeepSeekMessage[] {
  for (const block of message.content) refuseImage(block, model);
  return message.role === 'assistant' ? [assistantMessage(message.content)] : userMessages(message.content);
}

function assistantMessage(content: readonly ContentBlock[]): DeepSeekMessage {
  const reasoning = textOf(content, 'reasoning');
  const calls = content.filter((block): block is ToolCallBlock => block.type === 'tool-call');
  return {
    role: 'assistant',
    content: textOf(content, 'text'),
    // The API refuses a later request when a thinking answer comes back without what was thought.
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls.map(wireCall) }),
  };
}

function wireCall(call: ToolCallBlock): DeepSeekToolCall {
  return { id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments } };
}

/** Text first, then the tool results, each a message of its own; a message with neither is sent empty. */
function userMessages(content: readonly ContentBlock[]): DeepSeekMessage[] {
  const results = content.flatMap((block): DeepSeekMessage[] =>
    block.type === 'tool-result'
      ? [{ role: 'tool', tool_call_id: block.toolCallId, content: textOf(block.content, 'text') || '(no output)' }]
      : [],
  );
  const text = textOf(content, 'text');
  return text === '' && results.length > 0 ? results : [{ role: 'user', content: text }, ...results];
}

function textOf(content: readonly ContentBlock[], type: 'text' | 'reasoning'): string {
  return content.map((block) => (block.type === type ? (block as { readonly text: string }).text : '')).join('');
}

function refuseImage(block: ContentBlock, model: string): void {
  if (block.type === 'tool-result') for (const inner of block.content) refuseImage(inner, model);
  if (block.type !== 'image') return;
  throw new LlmError({
    code: 'UNSUPPORTED_CONTENT',
    message: `DeepSeek model "${model}" does not accept image input.`,
  });
}
