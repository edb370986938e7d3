import type { StreamChunk } from '../../src/protocol/index.js';

interface OpenBlock {
  readonly type: string;
  text: string;
  id?: string;
  name?: string;
}

/**
 * Judges a whole stream by the grammar of core §2.6, and by what its blocks must hold: indexes in first-seen order,
 * deltas that add up to the closed block, `usage` at most once, exactly one `finish`, last; no block left open unless
 * it failed.
 *
 * @throws Error that names the offending chunk and its place
 */
export function assertChunkGrammar(chunks: readonly StreamChunk[]): void {
  const open = new Map<number, OpenBlock>();
  let opened = 0;
  let usages = 0;
  for (const [at, chunk] of chunks.entries()) {
    const check = (holds: boolean, rule: string): void => {
      if (!holds) throw new Error(`chunk ${at} ${JSON.stringify(chunk)}: ${rule}`);
    };
    const blockAt = (index: number): OpenBlock => {
      const block = open.get(index);
      check(block !== undefined, 'its block is not open');
      return block as OpenBlock;
    };
    switch (chunk.type) {
      case 'block-start':
        check(chunk.index === opened, 'indexes count up in first-seen order');
        open.set(chunk.index, { type: chunk.blockType, text: '' });
        opened += 1;
        break;
      case 'text-delta':
      case 'reasoning-delta': {
        const block = blockAt(chunk.index);
        check(`${block.type}-delta` === chunk.type, 'its kind is not that of the open block');
        block.text += chunk.text;
        break;
      }
      case 'tool-call-delta': {
        const block = blockAt(chunk.index);
        check(block.type === 'tool-call', 'its kind is not that of the open block');
        block.text += chunk.argumentsDelta;
        block.id = chunk.id;
        block.name = chunk.name ?? block.name ?? '';
        break;
      }
      case 'block-end': {
        const block = blockAt(chunk.index);
        const { type, text, id, name } = block;
        const expected = type === 'tool-call' ? { type, id, name, arguments: text } : { type, text };
        const sorted = (value: object): string => JSON.stringify(Object.entries(value).sort());
        check(sorted(chunk.block) === sorted(expected), `the deltas made ${JSON.stringify(expected)}`);
        open.delete(chunk.index);
        break;
      }
      case 'usage':
        usages += 1;
        check(usages === 1, 'usage comes at most once');
        break;
      case 'finish': {
        check(at === chunks.length - 1, 'finish comes last');
        const failed = chunk.reason.kind === 'error' || chunk.reason.kind === 'aborted';
        check(failed || open.size === 0, 'a block is still open');
        break;
      }
    }
  }
  if (chunks.at(-1)?.type !== 'finish') throw new Error('the stream has no finish');
}
