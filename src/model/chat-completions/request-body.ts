import type {
  ContentBlock,
  ImageBlock,
  JsonObject,
  Message,
  ToolCallBlock,
  ToolDefinition,
  ToolResultBlock,
} from '../../protocol/index.js';
import type { ModelRequest } from '../adapter.js';
import type { ImageUrls } from './images.js';
import type { ChatQuirks, ReasoningField } from './quirks.js';

/** What is posted to `/chat/completions`, under the API's own names (core §5.4). */
export interface ChatRequestBody {
  readonly model: string;
  readonly stream: true;
  readonly stream_options?: { readonly include_usage: true };
  readonly temperature?: number;
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
  readonly stop?: readonly string[];
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly ChatTool[];
  /** What asks for an effort, under the provider's names. */
  readonly [effort: string]: unknown;
}
/** A message as the API takes it; text is always a string, empty rather than absent. */
export type ChatMessage =
  | { readonly role: 'system' | 'developer'; readonly content: string }
  | { readonly role: 'user'; readonly content: string | readonly ChatPart[] }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string }
  | ({
      readonly role: 'assistant';
      readonly content: string;
      readonly tool_calls?: readonly ChatToolCall[];
    } & { readonly [field in ReasoningField]?: string });
/** A part of a user message that holds images. */
export type ChatPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string; readonly detail?: string } };
interface ChatToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}
interface ChatTool {
  readonly type: 'function';
  readonly function: { readonly name: string; readonly description: string; readonly parameters: JsonObject };
}

/** What a body is made from besides the request. */
export interface BodyOptions {
  readonly quirks: ChatQuirks;
  /** Members that ask for the request's effort. */
  readonly effortFields: JsonObject;
  /** Of every image of the request. */
  readonly images: ImageUrls;
  /** How closely the model is to look at images; undefined: as it does by itself. */
  readonly imageDetail?: string;
}

/**
 * The JSON of a request body. Lone surrogates, which APIs refuse, become U+FFFD wherever they stand, so that a call's id
 * still is that of its result.
 */
export function writeRequestBody(...parameters: Parameters<typeof buildRequestBody>): string {
  const json = JSON.stringify(buildRequestBody(...parameters));
  // The only escapes of this kind are those of lone surrogates; an escaped backslash is skipped as a whole.
  return json.includes('\\ud') ? json.replace(/\\(?:ud[89a-f]..|.)/g, wellFormedEscape) : json;
}

function wellFormedEscape(sequence: string): string {
  return sequence.length > 2 ? '\\ufffd' : sequence;
}

/** The body of a chat completion request (core §5.4, 5.9). Block types it does not know are skipped. */
export function buildRequestBody(
  request: Pick<ModelRequest, 'config' | 'system' | 'messages' | 'tools'>,
  options: BodyOptions,
): ChatRequestBody {
  const { config, system, tools } = request;
  const { quirks, effortFields } = options;
  const messages = wireMessages(request.messages, options);
  return {
    model: config.model,
    stream: true,
    ...(quirks.streamUsage && { stream_options: { include_usage: true } }),
    ...effortFields,
    ...(config.temperature !== undefined && { temperature: config.temperature }),
    ...(config.maxTokens !== undefined && { [quirks.maxTokensField]: config.maxTokens }),
    ...(config.stop !== undefined && { stop: config.stop }),
    messages: system === undefined ? messages : [{ role: quirks.systemRole, content: system }, ...messages],
    ...(tools !== undefined && tools.length > 0 && { tools: tools.map(wireTool) }),
  };
}

function wireTool({ name, description, parameters }: ToolDefinition): ChatTool {
  return { type: 'function', function: { name, description, parameters } };
}

/** A result takes text only: its images follow as a user message, once no further result stands in between. */
function wireMessages(messages: readonly Message[], options: BodyOptions): ChatMessage[] {
  const wire: ChatMessage[] = [];
  let shown: ChatPart[] = [];
  const add = (message: ChatMessage): void => {
    if (message.role !== 'tool' && shown.length > 0) {
      wire.push({ role: 'user', content: [{ type: 'text', text: RESULT_IMAGES }, ...shown] });
      shown = [];
    }
    wire.push(message);
  };
  for (const message of messages) {
    const content: readonly ContentBlock[] = message.content;
    if (message.role === 'assistant') {
      add(assistantMessage(content, options.quirks));
      continue;
    }
    const results = content.filter((block): block is ToolResultBlock => block.type === 'tool-result');
    const own = content.filter((block) => block.type === 'text' || block.type === 'image');
    if (own.length > 0 || results.length === 0) add({ role: 'user', content: userContent(own, options) });
    for (const { toolCallId, content: told } of results) {
      add({ role: 'tool', tool_call_id: toolCallId, content: resultText(told) });
      shown.push(...told.flatMap((block) => (block.type === 'image' ? imageParts(block, options) : [])));
    }
  }
  if (shown.length > 0) wire.push({ role: 'user', content: [{ type: 'text', text: RESULT_IMAGES }, ...shown] });
  return wire;
}

const RESULT_IMAGES = 'Images of the tool results above:';

function assistantMessage(content: readonly ContentBlock[], quirks: ChatQuirks): ChatMessage {
  const calls = content.filter((block): block is ToolCallBlock => block.type === 'tool-call');
  const reasoning = resentReasoning(textOf(content, 'reasoning'), calls.length > 0, quirks);
  return {
    role: 'assistant',
    content: textOf(content, 'text'),
    ...(reasoning !== undefined && { [quirks.resendReasoningAs]: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls.map(wireCall) }),
  };
}

/** The one place that decides what a model gets back of what it thought; undefined: nothing. */
function resentReasoning(reasoning: string, called: boolean, quirks: ChatQuirks): string | undefined {
  const { resendReasoning, emptyReasoning } = quirks;
  if (resendReasoning === 'never' || (resendReasoning === 'with-tool-calls' && !called)) return undefined;
  return reasoning !== '' || (called && emptyReasoning) ? reasoning : undefined;
}

function wireCall(call: ToolCallBlock): ChatToolCall {
  return { id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments } };
}

/** Text alone is one string; with images it is parts, each image after its handle. */
function userContent(content: readonly ContentBlock[], options: BodyOptions): string | readonly ChatPart[] {
  if (!content.some((block) => block.type === 'image')) return textOf(content, 'text');
  return content.flatMap((block): ChatPart[] => {
    if (block.type === 'image') return imageParts(block, options);
    return block.type === 'text' && block.text !== '' ? [{ type: 'text', text: block.text }] : [];
  });
}

function resultText(content: readonly ContentBlock[]): string {
  const texts = content.map((block) => {
    if (block.type === 'image') return handleOf(block);
    return block.type === 'text' ? block.text : '';
  });
  return texts.join('') || '(no output)';
}

function imageParts(block: ImageBlock, { images, imageDetail }: BodyOptions): ChatPart[] {
  const url = images.get(block.attachment.attachmentId) ?? '';
  return [
    { type: 'text', text: handleOf(block) },
    { type: 'image_url', image_url: { url, ...(imageDetail !== undefined && { detail: imageDetail }) } },
  ];
}

/** Names an image the same way in every request. */
function handleOf({ attachment: { attachmentId, width, height } }: ImageBlock): string {
  return `[image ${attachmentId}, ${width}x${height}]`;
}

function textOf(content: readonly ContentBlock[], type: 'text' | 'reasoning'): string {
  return content.map((block) => (block.type === type ? block.text : '')).join('');
}
