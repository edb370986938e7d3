import type { JsonValue } from './json.js';

/** Content blocks (core §2.5). The map is extensible: a reader skips block types that it does not know. */
export interface TextBlock {
  readonly type: 'text';
  readonly text: string;
}
/** What the model thought before it answered; it goes back to the model with the history. */
export interface ReasoningBlock {
  readonly type: 'reasoning';
  readonly text: string;
}
/** An image by reference, as logs and histories hold it. */
export interface ImageBlock {
  readonly type: 'image';
  readonly attachment: ImageAttachmentRef;
}
/** `arguments` is the raw JSON text exactly as the model streamed it: it may be empty or invalid. */
export interface ToolCallBlock {
  readonly type: 'tool-call';
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}
/** What became of the call `toolCallId`, for the model to read. `isError`: the call failed. */
export interface ToolResultBlock {
  readonly type: 'tool-result';
  readonly toolCallId: string;
  readonly content: readonly ContentBlock[];
  readonly isError?: boolean;
}
/** What a message is made of, discriminated by `type`. */
export type ContentBlock = TextBlock | ReasoningBlock | ImageBlock | ToolCallBlock | ToolResultBlock;

/** A reference to stored pixels; the pixels themselves are never in the log. */
export interface ImageAttachmentRef {
  /** Opaque, made from the content. */
  readonly attachmentId: string;
  readonly mediaType: ImageMediaType;
  readonly bytes: number;
  readonly width: number;
  readonly height: number;
  readonly name?: string;
  /** Set only when the image was made smaller on arrival. */
  readonly originalDimensions?: { readonly width: number; readonly height: number };
}
/** The kinds of image that can be stored and sent (core §2.5). */
export type ImageMediaType = 'image/png' | 'image/jpeg' | 'image/webp' | 'image/gif';

/** What a prompt may carry besides {@link ContentBlock}s: an inline image, stored on arrival (core §1.5). */
export interface InlineImageBlock {
  readonly type: 'image';
  /** Canonical base64. */
  readonly data: string;
  readonly mimeType: ImageMediaType;
}
/** What a client puts into a prompt (decision 5). Block types that nobody here knows travel verbatim. */
export type PromptBlock = TextBlock | InlineImageBlock | { readonly type: string; readonly [key: string]: JsonValue };

/** Where a message came from (core §2.4). A UI shows `user` as the human's; everything else is injected context. */
export type MessageSource =
  | { readonly kind: 'user' }
  | {
      readonly kind: 'plugin';
      readonly plugin: string;
      readonly form?: 'instructions' | 'catalog' | 'snapshot' | 'notice' | 'relay' | 'recall';
      readonly sections?: readonly { readonly name: string; readonly text: string }[];
      readonly summary?: string;
    };

/** Which model wrote a message, and over which provider. */
export interface ModelSource {
  readonly kind: 'model';
  readonly provider: string;
  readonly model: string;
  /** Opaque adapter data, handed back only to the adapter that made it. */
  readonly replayState?: JsonValue;
}

/** What enters a step from outside the model (core §2.4). The id is unique in the session. */
export interface UserMessage {
  readonly id: string;
  readonly role: 'user';
  readonly content: readonly ContentBlock[];
  readonly source: MessageSource;
}
/** One answer of the model. An answer without content is logged and left out of the history (core §2.2, 2.7). */
export interface AssistantMessage {
  readonly id: string;
  readonly role: 'assistant';
  readonly content: readonly ContentBlock[];
  readonly source: ModelSource;
}
/** The result of one tool call: exactly one block, whose `toolCallId` is the source's `callId`. */
export interface ToolResultMessage {
  readonly id: string;
  readonly role: 'user';
  readonly content: readonly [ToolResultBlock];
  readonly source: { readonly kind: 'tool'; readonly callId: string };
}
/** One entry of the model-visible history. `role` does not tell a tool result from a prompt: `source.kind` does. */
export type Message = UserMessage | AssistantMessage | ToolResultMessage;
