import { expect } from 'chai';
import type { StreamChunk } from '../../src/protocol/index.js';
import { assertChunkGrammar } from '../support/chunk-grammar.js';

const open = (index: number, blockType: 'text' | 'reasoning' | 'tool-call' = 'text'): StreamChunk => ({
  type: 'block-start',
  index,
  blockType,
});
const text = (index: number, said: string): StreamChunk => ({ type: 'text-delta', index, text: said });
const close = (index: number, said: string): StreamChunk => ({
  type: 'block-end',
  index,
  block: { type: 'text', text: said },
});
const usage: StreamChunk = { type: 'usage', usage: { inputTokens: 1, outputTokens: 1 } };
const stop: StreamChunk = { type: 'finish', reason: { kind: 'stop' } };
const failed: StreamChunk = { type: 'finish', reason: { kind: 'error', failure: { code: 'X', message: 'x' } } };

describe('assertChunkGrammar', () => {
  it('accepts whole streams, and failed ones with open blocks', () => {
    assertChunkGrammar([open(0), open(1), text(1, 'b'), text(0, 'a'), close(0, 'a'), close(1, 'b'), usage, stop]);
    assertChunkGrammar([open(0), text(0, 'a'), failed]);
    assertChunkGrammar([stop]);
  });

  const broken: readonly (readonly [rule: string, chunks: readonly StreamChunk[]])[] = [
    ['the stream has no finish', [open(0), close(0, '')]],
    ['finish comes last', [stop, stop]],
    ['a block is still open', [open(0), stop]],
    ['usage comes at most once', [usage, usage, stop]],
    ['indexes count up', [open(1), failed]],
    ['indexes count up', [open(0), open(0), failed]],
    ['its block is not open', [text(0, 'a'), stop]],
    ['its block is not open', [open(0), close(0, ''), text(0, 'a'), stop]],
    ['not that of the open block', [open(0, 'reasoning'), text(0, 'a'), failed]],
    ['the deltas made', [open(0), text(0, 'a'), close(0, 'b'), stop]],
    ['the deltas made', [open(0, 'reasoning'), close(0, ''), stop]],
  ];
  for (const [rule, chunks] of broken) {
    it(`finds that ${rule}: ${chunks.map(({ type }) => type).join(' ')}`, () => {
      expect(() => assertChunkGrammar(chunks)).to.throw(rule);
    });
  }
});
