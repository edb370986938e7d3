import type { JsonValue } from './json.js';

/** Content blocks (core §2.5). The map is extensible: a reader skips block types that it does not know. */
export interface TextBlock {
  readonly type: 'text';
  readonly text: string;
}
export interface ReasoningBlock {
  readonly type: 'reasoning';
  readonly text: string;
}
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
export interface ToolResultBlock {
  readonly type: 'tool-result';
  readonly toolCallId: string;
  readonly content: readonly ContentBlock[];
  readonly isError?: boolean;
}
export type ContentBlock = TextBlock | ReasoningBlock | ImageBlock | ToolCallBlock | ToolResultBlock;

/** A reference to stored pixels; the pixels themselves are never in the log. */
export interface ImageAttachmentRef {
  readonly attachmentId: string;
  readonly mediaType: ImageMediaType;
  readonly bytes: number;
  readonly width: number;
  readonly height: number;
  readonly name?: string;
  readonly originalDimensions?: { readonly width: number; readonly height: number };
}
export type ImageMediaType = 'image/png' | 'image/jpeg' | 'image/webp' | 'image/gif';

/** What a prompt may carry besides {@link ContentBlock}s: an inline image, stored on arrival (core §1.5). */
export interface InlineImageBlock {
  readonly type: 'image';
  /** Canonical base64. */
  readonly data: string;
  readonly mimeType: ImageMediaType;
}
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

export interface ModelSource {
  readonly kind: 'model';
  readonly provider: string;
  readonly model: string;
  /** Opaque adapter data, handed back only to the adapter that made it. */
  readonly replayState?: JsonValue;
}

export interface UserMessage {
  readonly id: string;
  readonly role: 'user';
  readonly content: readonly ContentBlock[];
  readonly source: MessageSource;
}
export interface AssistantMessage {
  readonly id: string;
  readonly role: 'assistant';
  readonly content: readonly ContentBlock[];
  readonly source: ModelSource;
}
export interface ToolResultMessage {
  readonly id: string;
  readonly role: 'user';
  readonly content: readonly [ToolResultBlock];
  readonly source: { readonly kind: 'tool'; readonly callId: string };
}
export type Message = UserMessage | AssistantMessage | ToolResultMessage;
