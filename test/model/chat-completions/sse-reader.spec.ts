import { expect } from 'chai';
import fc from 'fast-check';
import { ResponseTranslator } from '../../../src/model/chat-completions/response-translator.js';
import { SseReader } from '../../../src/model/chat-completions/sse-reader.js';
import { deepseekQuirks } from '../../../src/model/deepseek/deepseek-quirks.js';
import type { StreamChunk } from '../../../src/protocol/index.js';
import { DONE, delta, sse } from '../../support/deepseek-server.js';
import { finishOf, said } from '../../support/model-request.js';

function dataOf(...pieces: readonly (string | Uint8Array)[]): readonly string[] {
  const data: string[] = [];
  const reader = new SseReader(
    (text) => data.push(text),
    () => data.push('overflow'),
  );
  for (const piece of pieces) reader.feed(typeof piece === 'string' ? Buffer.from(piece) : piece);
  return data;
}
function chunksOf(pieces: readonly Uint8Array[]): readonly StreamChunk[] {
  const translator = new ResponseTranslator(deepseekQuirks('always', true));
  const reader = new SseReader(
    (data) => translator.push(data),
    () => undefined,
  );
  for (const piece of pieces) reader.feed(piece);
  translator.end();
  return translator.take();
}
function cutAt(bytes: Uint8Array, places: readonly number[]): readonly Uint8Array[] {
  const sorted = [0, ...[...places].sort((a, b) => a - b), bytes.length];
  return sorted.slice(1).map((end, at) => bytes.subarray(sorted[at], end));
}

const STREAM = [
  ': connected\n\n',
  delta({ reasoning_content: '先看 台' }),
  'event: message\nid: 7\nretry: 10\n',
  delta({ content: 'größe 🔥' }),
  'data: {"choices":[{"delta":\ndata: {"content":"!"}}]}\n\n',
  sse({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } }),
  DONE,
].join('');

const ENDS = [
  ['LF', '\n'],
  ['CRLF', '\r\n'],
  ['CR', '\r'],
] as const;

describe('SseReader', () => {
  const streams: readonly (readonly [what: string, pieces: readonly string[], data: readonly string[]])[] = [
    ['delivers the data of each event', ['data: a\n\ndata:b\n\n'], ['a', 'b']],
    ['joins the lines of one event', ['data: a\ndata: b\ndata\n\n'], ['a\nb\n']],
    ['skips comments and fields without data', [': hi\n\nevent: x\n\nid: 1\n\n'], []],
    ['skips a line that is no field (H3)', ['upstream error\n\ndata: a\n\n'], ['a']],
    ['delivers nothing before the blank line', ['data: a\n', 'data: b'], []],
    ['delivers at once after a CR, without waiting for an LF (H1)', ['data: a\r', '\r'], ['a']],
    ['takes CR and LF in two pieces for one line end (H1)', ['data: a\r', '\ndata: b\r', '\n\r', '\n'], ['a\nb']],
    ['ignores a byte order mark', ['\ufeffdata: a\n\n'], ['a']],
  ];
  for (const [what, pieces, data] of streams) {
    it(what, () => {
      expect(dataOf(...pieces)).to.deep.equal(data);
    });
  }

  it('gives up on an event without an end', () => {
    const piece = Buffer.alloc(1024 * 1024, 'data: ');
    expect(dataOf(...Array(33).fill(piece), 'data: a\n\n')).to.deep.equal(['overflow']);
  });

  for (const [name, end] of ENDS) {
    const bytes = Buffer.from(STREAM.replaceAll('\n', end));
    const whole = chunksOf([bytes]);

    it(`reads a stream with ${name}`, () => {
      expect(said(whole, 'reasoning-delta')).to.equal('先看 台');
      expect(said(whole)).to.equal('größe 🔥!');
      expect(finishOf(whole)).to.deep.equal({ kind: 'stop' });
      expect(whole).to.deep.equal(chunksOf([Buffer.from(STREAM)]));
    });

    it(`reads the same wherever a stream with ${name} is cut in two (A1, H1)`, () => {
      for (let at = 0; at <= bytes.length; at += 1) {
        expect(chunksOf(cutAt(bytes, [at])), `cut at ${at}`).to.deep.equal(whole);
      }
    });

    it(`reads the same byte by byte with ${name} (A1, H1)`, () => {
      expect(chunksOf(Array.from(bytes, (byte) => Uint8Array.of(byte)))).to.deep.equal(whole);
    });

    it(`reads the same in any pieces with ${name} (A1, H1)`, () => {
      fc.assert(
        fc.property(fc.array(fc.nat({ max: bytes.length }), { maxLength: 40 }), (places) => {
          expect(chunksOf(cutAt(bytes, places))).to.deep.equal(whole);
        }),
      );
    });

    it(`calls a stream with ${name} cut when its end is missing (H3)`, () => {
      // A CR ends its line whether an LF follows or not.
      for (let missing = end.length; missing <= DONE.length; missing += 1) {
        const cut = bytes.subarray(0, bytes.length - missing);
        expect(finishOf(chunksOf([cut])), `${missing} missing`).to.have.nested.property(
          'failure.code',
          'STREAM_CLOSED',
        );
      }
    });
  }
});
