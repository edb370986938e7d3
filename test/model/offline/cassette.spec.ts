import { expect } from 'chai';
import { Cassette } from '../../../src/model/offline/cassette.js';
import type { Message, SessionEvent, StreamChunk, SurfaceOp } from '../../../src/protocol/index.js';
import { toolResult, user } from '../../support/model-request.js';

const START: StreamChunk = { type: 'block-start', index: 0, blockType: 'text' };
const STOP: StreamChunk = { type: 'finish', reason: { kind: 'stop' } };

/** Records what a session did. */
class Recorder {
  readonly cassette = new Cassette();
  #seq = 0;

  event(type: string, data: unknown, surfaceOp?: SurfaceOp, time = this.#seq): number {
    const seq = this.#seq;
    this.#seq += 1;
    const event = { type, seq, time, data, ...(surfaceOp !== undefined && { surfaceOp }) };
    this.cassette.add(event as unknown as SessionEvent);
    return seq;
  }
  user(text: string, surfaceOp: SurfaceOp = 'append'): number {
    return this.event('user/message', user(text), surfaceOp);
  }
  result(text: string, surfaceOp: SurfaceOp = 'append'): number {
    return this.event('tool/result', { message: toolResult('c', text) }, surfaceOp);
  }
  chunk(chunk: StreamChunk, time?: number): number {
    return this.event('assistant/chunk', { turn: 1, step: 1, chunk }, undefined, time);
  }
  call(): void {
    this.chunk(START);
    this.chunk(STOP);
  }
  get heard(): string[][] {
    return this.cassette.takes.map(({ heard }) => heard.map(textOf));
  }
}

function textOf({ content: [block] }: Message): string {
  if (block?.type === 'tool-result') return textOf({ content: block.content } as Message);
  return block?.type === 'text' ? block.text : '';
}

describe('Cassette', () => {
  it('gives each take what entered the history since the one before', () => {
    const recorder = new Recorder();
    recorder.user('a');
    recorder.user('b');
    recorder.call();
    recorder.call();
    recorder.user('c');
    recorder.call();
    expect(recorder.heard).to.deep.equal([['a', 'b'], [], ['c']]);
    expect(recorder.cassette.takes.map(({ seq }) => seq)).to.deep.equal([2, 4, 7]);
  });

  it('keeps chunks together that came within one millisecond', () => {
    const recorder = new Recorder();
    const a: StreamChunk = { type: 'text-delta', index: 0, text: 'a' };
    recorder.chunk(START, 5);
    recorder.chunk(a, 5);
    recorder.chunk(a, 6);
    recorder.chunk(STOP, 6);
    recorder.chunk(START, 6);
    expect(recorder.cassette.takes.map(({ batches }) => batches)).to.deep.equal([
      [
        [START, a],
        [a, STOP],
      ],
      [[START]],
    ]);
  });

  it('has a summary stand where the history stood, before what is newer', () => {
    const recorder = new Recorder();
    const start = recorder.user('a');
    const end = recorder.user('b');
    recorder.call();
    recorder.user('c');
    recorder.user('summary', { op: 'replace', start, end });
    recorder.call();
    expect(recorder.heard).to.deep.equal([
      ['a', 'b'],
      ['summary', 'c'],
    ]);
  });

  it('does not hear a tool result again that was cut shorter', () => {
    const recorder = new Recorder();
    const seq = recorder.result('long');
    recorder.call();
    recorder.result('short', { op: 'replace', start: seq, end: seq });
    recorder.user('next');
    recorder.call();
    expect(recorder.heard).to.deep.equal([['long'], ['next']]);
  });

  for (const [what, cut] of [
    ['the end of its step', (recorder: Recorder) => recorder.event('step/end', {})],
    ['a retry', (recorder: Recorder) => recorder.event('llm/retry', {})],
  ] as const) {
    it(`ends a take without a finish at ${what}`, () => {
      const recorder = new Recorder();
      recorder.chunk(START);
      cut(recorder);
      recorder.call();
      const [first, second] = recorder.cassette.takes;
      expect(first?.batches.flat().at(-1)).to.have.nested.property('reason.kind', 'aborted');
      expect(second?.batches.flat()).to.deep.equal([START, STOP]);
    });
  }
});
