import type { AttachmentStore } from '../../attachment/index.js';
import type { ContentBlock, ImageAttachmentRef, ImageBlock, Message } from '../../protocol/index.js';
import { LlmError } from '../errors.js';
import { leftOut } from '../history-projection.js';

/** How many images one request may carry, and by how much it is relieved when they are too many (core §5.9). */
export interface ImageLimits {
  /** Bytes, before base64. */
  readonly maxInlineRequestImageBytes: number;
  readonly maxImagesPerRequest: number;
  /** Bytes. */
  readonly inlineImageOffloadByteQuantum: number;
  readonly imageOffloadCountQuantum: number;
}

/** Data URLs by attachment id. */
export type ImageUrls = ReadonlyMap<string, string>;

/** The images of a history, those inside tool results too, oldest first. */
export function imagesIn(messages: readonly Message[]): readonly ImageBlock[] {
  return messages.flatMap(({ content }) => content.flatMap(imagesOf));
}

function imagesOf(block: ContentBlock): readonly ImageBlock[] {
  if (block.type === 'tool-result') return block.content.flatMap(imagesOf);
  return block.type === 'image' ? [block] : [];
}

/**
 * @param model how messages name the model
 * @throws LlmError `UNSUPPORTED_CONTENT` for images that the model cannot take, or that stand in an answer
 */
export function judgeImages(messages: readonly Message[], model: string, readsImages: boolean): void {
  if (!readsImages && imagesIn(messages).length > 0) refuse(`${model} does not accept image input.`);
  const answers = messages.filter(({ role }) => role === 'assistant');
  if (imagesIn(answers).length > 0) refuse(`${model} accepts images in prompts and tool results only.`);
}

/**
 * The history with its oldest images replaced by a line of text where they are too many or too large together. They go
 * by whole quanta, so that the beginning of a growing history stays the same for many requests.
 */
export function offloadImages(messages: readonly Message[], limits: ImageLimits): readonly Message[] {
  const sizes = imagesIn(messages).map(({ attachment }) => attachment.bytes);
  let left = excess(sizes.length, limits.maxImagesPerRequest, limits.imageOffloadCountQuantum);
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  let leftBytes = excess(bytes, limits.maxInlineRequestImageBytes, limits.inlineImageOffloadByteQuantum);
  if (left === 0 && leftBytes === 0) return messages;
  const relieve = (block: ContentBlock): ContentBlock => {
    if (block.type === 'tool-result') return { ...block, content: block.content.map(relieve) };
    if (block.type !== 'image' || (left <= 0 && leftBytes <= 0)) return block;
    left -= 1;
    leftBytes -= block.attachment.bytes;
    return leftOut(block);
  };
  return messages.map((message) => ({ ...message, content: message.content.map(relieve) }) as Message);
}

/** How much of `total` has to go: whole quanta, or nothing. */
function excess(total: number, limit: number, quantum: number): number {
  return Math.max(0, Math.ceil((total - limit) / quantum)) * quantum;
}

/**
 * Reads each image once, one after the other.
 *
 * @throws LlmError `UNSUPPORTED_CONTENT` without a store
 * @throws CodedError what {@link AttachmentStore.read} throws
 */
export async function readImages(
  messages: readonly Message[],
  attachments: AttachmentStore | undefined,
): Promise<ImageUrls> {
  const urls = new Map<string, string>();
  for (const { attachment } of imagesIn(messages)) {
    if (attachments === undefined) {
      return refuse('image input needs an attachment store: add a row of the module "attachment-local"');
    }
    if (urls.has(attachment.attachmentId)) continue;
    urls.set(attachment.attachmentId, dataUrl(attachment, await attachments.read(attachment)));
  }
  return urls;
}

function dataUrl({ mediaType }: ImageAttachmentRef, bytes: Buffer): string {
  return `data:${mediaType};base64,${bytes.toString('base64')}`;
}

function refuse(message: string): never {
  throw new LlmError({ code: 'UNSUPPORTED_CONTENT', message });
}
