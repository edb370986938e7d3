import type { ContentBlock, ImageBlock, Message, TextBlock } from '../protocol/index.js';
import { pairToolCalls } from './tool-pairing.js';

/** Which adapter a history is meant for, and what its model can take. */
export interface HistoryTarget {
  readonly provider: string;
  /** False when the model is known to read no images. */
  readonly readsImages: boolean;
}

/**
 * The history as one adapter may see it (core §5.1): calls and results are paired ({@link pairToolCalls}), images become
 * a line of text for a model that reads none, and replay state goes back only to the provider that made it. Messages
 * that need no change are passed by reference. The list is frozen.
 */
export function projectHistory(messages: readonly Message[], target: HistoryTarget): readonly Message[] {
  const projected = pairToolCalls(messages).map((message) => {
    const own = withoutForeignReplayState(message, target.provider);
    return target.readsImages || !own.content.some(holdsImage) ? own : withoutImages(own);
  });
  return Object.freeze(projected);
}

/** The line of text that stands for an image which a request does not carry. */
export function leftOut({ attachment }: ImageBlock): TextBlock {
  return { type: 'text', text: `[image left out: ${attachment.attachmentId}]` };
}

function withoutForeignReplayState(message: Message, provider: string): Message {
  if (message.role !== 'assistant' || message.source.replayState === undefined) return message;
  if (message.source.provider === provider) return message;
  const { replayState: _, ...source } = message.source;
  return { ...message, source };
}

function holdsImage(block: ContentBlock): boolean {
  return block.type === 'image' || (block.type === 'tool-result' && block.content.some(holdsImage));
}

function withoutImages(message: Message): Message {
  return { ...message, content: message.content.map(describeImages) } as Message;
}

function describeImages(block: ContentBlock): ContentBlock {
  if (block.type === 'image') return leftOut(block);
  return block.type === 'tool-result' ? { ...block, content: block.content.map(describeImages) } : block;
}
