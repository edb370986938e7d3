import { expect } from 'chai';
import { SessionDigest } from '../../src/cli/sessions/session-digest.js';
import type { SessionEvent, TokenUsage } from '../../src/protocol/index.js';

const A = { provider: 'p', model: 'a' };
const usage = (inputTokens: number): TokenUsage => ({ inputTokens, outputTokens: 1 });

type Told = readonly [type: string, data: object];
const chunk = (tokens: number): Told => ['assistant/chunk', { chunk: { type: 'usage', usage: usage(tokens) } }];
const message = (tokens?: number, source: object = A): Told => {
  return ['assistant/message', { message: { source }, ...(tokens !== undefined && { usage: usage(tokens) }) }];
};
const header: Told = ['request/header', { header: { config: A } }];
const end: Told = ['step/end', {}];
const retry: Told = ['llm/retry', {}];

function digest(events: readonly Told[], seedLength?: number): SessionDigest {
  const folded = new SessionDigest(seedLength);
  const turn: Told = ['turn/start', { turn: 1 }];
  for (const [seq, [type, data]] of [turn, ...events].entries()) {
    folded.add({ type, seq, time: seq, data } as unknown as SessionEvent);
  }
  return folded;
}

describe('SessionDigest', () => {
  const counted: readonly [string, readonly Told[], [calls: number, inputTokens: number][]][] = [
    ['a call by its message, not by its chunk as well', [header, chunk(7), message(7), end], [[1, 7]]],
    ['a call whose message does not tell by its chunk', [header, chunk(7), message(), end], [[1, 7]]],
    ['a call without chunks', [header, message(7), end], [[1, 7]]],
    ['a call that failed', [header, chunk(7), end], [[1, 7]]],
    [
      'each call of a chain of retries',
      [header, chunk(7), retry, chunk(8), retry, chunk(9), message(9), end],
      [[3, 24]],
    ],
    ['no call that told nothing', [header, message(), retry, end], []],
    [
      'each model apart',
      [header, message(1), message(2, { provider: 'p', model: 'b' }), message(4)],
      [
        [2, 5],
        [1, 2],
      ],
    ],
  ];
  for (const [what, events, expected] of counted) {
    it(`counts ${what} (E4)`, () => {
      const { models } = digest(events);
      expect(models.map(({ calls, usage: { inputTokens } }) => [calls, inputTokens])).to.deep.equal(expected);
    });
  }

  it('leaves inherited calls out, wherever the seed ends (E4)', () => {
    const events = [header, chunk(7), message(7), end, chunk(8), message(8), end];
    const sums = Array.from({ length: events.length + 2 }, (_, seed) =>
      digest(events, seed).models.reduce((sum, model) => sum + model.usage.inputTokens, 0),
    );
    expect(sums).to.deep.equal([15, 15, 15, 15, 8, 8, 8, 0, 0]);
  });

  it('adds up only what was told', () => {
    const cached = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 3 };
    const { models } = digest([message(1), ['assistant/message', { message: { source: A }, usage: cached }]]);
    expect(models[0]?.usage).to.deep.equal({ inputTokens: 2, outputTokens: 2, cacheReadTokens: 3 });
  });

  it('has the last title and how each turn ended', () => {
    const { title, turns } = digest([
      ['session/title', { title: 'one' }],
      ['session/title', { title: 'two' }],
      ['turn/end', { turn: 1, reason: { kind: 'blocked' } }],
      ['turn/start', { turn: 2 }],
    ]);
    expect(title).to.equal('two');
    expect(turns.map(({ turn, reason }) => [turn, reason?.kind])).to.deep.equal([
      [1, 'blocked'],
      [2, undefined],
    ]);
  });
});
