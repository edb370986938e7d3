import { expect } from 'chai';
import { type RunResult, SdkProtocolError } from '../../src/client/index.js';
import { RunCollector } from '../../src/client/run-collector.js';
import type { HarnessNotification, JsonValue } from '../../src/protocol/index.js';

let seq = 0;
const event = (type: string, data: JsonValue, sessionId = 's'): HarnessNotification =>
  ({
    method: 'session.event',
    params: { sessionId, event: { type, seq: seq++, time: 0, data } },
  }) as HarnessNotification;
const status = (value: 'running' | 'idle', sessionId = 's'): HarnessNotification => ({
  method: 'session.status',
  params: { sessionId, status: value },
});
const splice = (data: { readonly [key: string]: JsonValue }, target = 'next-turn'): HarnessNotification =>
  event('agent/inbox/spliced', { target, ...data });
const insert = (id: string, start = 0): HarnessNotification => splice({ start, inserted: [{ id }] });
const remove = (start: number, outcome?: 'canceled'): HarnessNotification =>
  splice({ start, removedCount: 1, inserted: [], ...(outcome && { outcome }) });
const end = (reason: JsonValue): HarnessNotification => event('turn/end', { turn: 1, reason });
const answer = (content: JsonValue, usage?: JsonValue): HarnessNotification =>
  event('assistant/message', {
    turn: 1,
    step: 1,
    message: { id: 'a', role: 'assistant', content },
    ...(usage && { usage }),
  });
const text = (value: string) => ({ type: 'text', text: value });

/** All of them, whatever stands before the receipt or behind the idle. */
function collect(notifications: readonly HarnessNotification[], messageId = 'mine'): RunResult {
  const run = new RunCollector('s', messageId);
  for (const notification of notifications) {
    if (run.done) break;
    if (run.wants(notification)) run.add(notification);
  }
  expect(run.done, 'the run ended').to.equal(true);
  return run.result();
}

const served = (reason: JsonValue): HarnessNotification[] => [insert('mine'), remove(0), end(reason), status('idle')];

describe('RunCollector', () => {
  it('collects from the receipt to the next idle, both included', () => {
    const before = [event('turn/end', { turn: 1, reason: { kind: 'completed' } }), status('idle'), insert('other')];
    const own = [insert('mine'), status('running'), remove(0), end({ kind: 'completed' }), status('idle')];
    const result = collect([...before, ...own, event('turn/start', { turn: 9 })]);
    expect(result.notifications).to.deep.equal(own);
    expect(result.events.map(({ type }) => type)).to.deep.equal([
      'agent/inbox/spliced',
      'agent/inbox/spliced',
      'turn/end',
    ]);
  });

  it('keeps the events of the session only, the notifications of the whole tree', () => {
    const child = [event('turn/start', { turn: 1 }, 'child'), status('idle', 'child')];
    const result = collect([insert('mine'), ...child, remove(0), end({ kind: 'completed' }), status('idle')]);
    expect(result.events).to.have.length(3);
    expect(result.notifications).to.have.length(6);
  });

  const finals: readonly [string, readonly JsonValue[], string][] = [
    ['the last message', [[text('first')], [text('second')]], 'second'],
    ['several text blocks joined', [[text('a'), { type: 'reasoning', text: 'hm' }, text('b')]], 'ab'],
    [
      'nothing when the last has tool calls only',
      [[text('a')], [{ type: 'tool-call', id: '1', name: 'x', arguments: '' }]],
      '',
    ],
    ['nothing without a message', [], ''],
  ];
  for (const [what, contents, expected] of finals) {
    it(`takes as final response ${what}`, () => {
      const answers = contents.map((content) => answer(content));
      const other = event('assistant/message', { message: { content: [text('of a child')] } }, 'child');
      const run = [insert('mine'), remove(0), ...answers, other, end({ kind: 'completed' }), status('idle')];
      expect(collect(run).finalResponse).to.equal(expected);
    });
  }

  const failure = {
    code: 'RATE_LIMIT',
    message: 'slow down',
    status: 429,
    providerRetryAfterMs: 1500,
    requestId: 'r-1',
  };
  const outcomes: readonly [JsonValue, Pick<RunResult, 'outcome' | 'error'>][] = [
    [{ kind: 'completed' }, { outcome: 'completed', error: undefined }],
    [{ kind: 'max-tokens' }, { outcome: 'max-tokens', error: undefined }],
    [{ kind: 'blocked' }, { outcome: 'blocked', error: undefined }],
    [{ kind: 'budget' }, { outcome: 'budget', error: undefined }],
    [{ kind: 'interrupted' }, { outcome: 'closed', error: undefined }],
    [
      { kind: 'aborted', reason: { kind: 'disposed' } },
      { outcome: 'closed', error: undefined },
    ],
    [
      { kind: 'aborted', reason: { kind: 'user' } },
      { outcome: 'cancelled', error: undefined },
    ],
    [
      { kind: 'aborted', reason: { kind: 'hook', reason: 'no' } },
      { outcome: 'cancelled', error: undefined },
    ],
    [{ kind: 'aborted' }, { outcome: 'cancelled', error: undefined }],
    [
      { kind: 'error', error: failure },
      {
        outcome: 'error',
        error: { code: 'RATE_LIMIT', message: 'slow down', status: 429, retryAfterMs: 1500, requestId: 'r-1' },
      },
    ],
    [
      { kind: 'error', error: { code: 'AUTH', message: 'no' } },
      { outcome: 'error', error: { code: 'AUTH', message: 'no' } },
    ],
    [{ kind: 'error' }, { outcome: 'error', error: { code: 'UNKNOWN', message: 'turn failed' } }],
    [
      { kind: 'odd' },
      { outcome: 'error', error: { code: 'UNKNOWN', message: 'turn ended with unknown reason "odd"' } },
    ],
  ];
  for (const [reason, expected] of outcomes) {
    it(`reads a turn that ended with ${JSON.stringify(reason)} as ${expected.outcome} (E1)`, () => {
      const result = collect(served(reason));
      expect({ outcome: result.outcome, error: result.error }).to.deep.equal(expected);
      expect(result.finishReason).to.equal((reason as { kind: string }).kind);
    });
  }

  it('judges by the turn that claimed the prompt, not by a later one', () => {
    const later = [insert('next'), remove(0), end({ kind: 'completed' })];
    const failed = { kind: 'error', error: { code: 'X', message: 'x' } };
    const result = collect([insert('mine'), remove(0), end(failed), ...later, status('idle')]);
    expect(result).to.include({ outcome: 'error', finishReason: 'completed' });
  });

  it('judges by the turn that claimed the prompt, not by one that ran before', () => {
    // Two prompts wait; ours is the second of them.
    const first = [remove(0), end({ kind: 'blocked' })];
    const second = [remove(0), end({ kind: 'max-tokens' })];
    expect(collect([insert('mine', 1), ...first, ...second, status('idle')]).outcome).to.equal('max-tokens');
  });

  it('follows the prompt through insertions, removals and a replacement', () => {
    const moves = [
      insert('ahead', 0), // ours: 1
      remove(5, 'canceled'),
      splice({ start: 0, inserted: [{ id: 'x' }] }, 'next-step'),
      splice({ start: 1, removedCount: 1, inserted: [{ id: 'y' }, { id: 'mine' }] }), // replaced; ours: 2
      remove(0, 'canceled'), // ours: 1
      remove(0), // claims y
      end({ kind: 'blocked' }),
      remove(0), // claims ours
      end({ kind: 'completed' }),
    ];
    expect(collect([insert('mine'), ...moves, status('idle')]).outcome).to.equal('completed');
  });

  it('is cancelled when the prompt was removed unclaimed or never claimed, closed when its turn fell silent', () => {
    const other = end({ kind: 'completed' });
    expect(collect([insert('mine'), remove(0, 'canceled'), other, status('idle')]).outcome).to.equal('cancelled');
    expect(collect([insert('mine'), other, status('idle')]).outcome).to.equal('cancelled');
    expect(collect([insert('mine'), remove(0), status('idle')])).to.include({
      outcome: 'closed',
      finishReason: undefined,
    });
  });

  it('sums the usage that the session reported, member by member', () => {
    const usages = [
      { inputTokens: 10, outputTokens: 2, cacheReadTokens: 3 },
      undefined,
      { inputTokens: 1, outputTokens: 1 },
    ];
    const child = event(
      'assistant/message',
      { message: { content: [] }, usage: { inputTokens: 99, outputTokens: 99 } },
      'child',
    );
    const answers = usages.map((usage) => answer([], usage));
    const run = (all: readonly HarnessNotification[]) =>
      collect([insert('mine'), remove(0), ...all, status('idle')]).usage;
    expect(run([...answers, child])).to.deep.equal({ inputTokens: 11, outputTokens: 3, cacheReadTokens: 3 });
    expect(run([answer([text('no numbers')])])).to.equal(undefined);
  });

  const malformed: readonly [string, HarnessNotification, string | RegExp][] = [
    [
      'no event',
      { method: 'session.event', params: { sessionId: 's' } } as never,
      /^session\.event carried no event envelope: \{/,
    ],
    ['an event without a type', event(7 as never, {}), /^session\.event carried no event envelope: \{/],
    [
      'a message without content',
      event('assistant/message', { message: {} }),
      /^assistant\/message event carried malformed content: \{/,
    ],
    [
      'a message without data',
      event('assistant/message', null),
      /^assistant\/message event carried malformed content: \{/,
    ],
    ['a block without a type', answer([{}]), /^assistant\/message event carried malformed content: \{/],
    ['a turn/end without a reason', event('turn/end', {}), 'turn/end event requires a string data.reason.kind'],
  ];
  for (const [what, notification, message] of malformed) {
    it(`refuses ${what} within the run, and ignores it elsewhere`, () => {
      const run = served({ kind: 'completed' });
      expect(() => collect([...run.slice(0, 2), notification])).to.throw(SdkProtocolError, message);
      expect(collect([notification, ...run]).outcome).to.equal('completed');
      const ofChild = {
        ...notification,
        params: { ...notification.params, sessionId: 'child' },
      } as HarnessNotification;
      expect(collect([run[0] as HarnessNotification, ofChild, ...run.slice(1)]).outcome).to.equal('completed');
    });
  }

  it('quotes no more of a malformed event than a person reads', () => {
    const huge = event('assistant/message', { message: { content: 'x'.repeat(1_000_000) } });
    const run = () => collect([insert('mine'), huge]);
    expect(run).to.throw(SdkProtocolError).with.property('message').with.length.below(1200);
  });

  it('takes events of unknown types and with odd data as they come', () => {
    const odd = [event('some/thing', 'text'), event('agent/inbox/spliced', null), event('turn/start', [])];
    const result = collect([insert('mine'), ...odd, remove(0), end({ kind: 'completed' }), status('idle')]);
    expect(result.events).to.have.length(6);
    expect(result.outcome).to.equal('completed');
  });
});
