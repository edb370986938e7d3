import type { ContentBlock, Message } from '../../protocol/index.js';

/** The text of a message, that of its tool results included. */
export function textOfMessage(message: Message): string {
  return message.content.map(textOfBlock).join('');
}

function textOfBlock(block: ContentBlock): string {
  if (block.type === 'text') return block.text;
  return block.type === 'tool-result' ? block.content.map(textOfBlock).join('') : '';
}
