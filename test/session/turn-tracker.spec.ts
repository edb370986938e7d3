import { expect } from 'chai';
import type { SessionEvent } from '../../src/protocol/index.js';
import { isKnownEventType } from '../../src/session/event-types.js';
import { sealEvent } from '../../src/session/seal-event.js';
import { TurnTracker } from '../../src/session/turn-tracker.js';
import { resultOf, said } from '../support/session-world.js';

type Draft = { readonly type: string; readonly data: object; readonly [key: string]: unknown };

const append = { surfaceOp: 'append' } as const;
const failure = { message: 'm', code: 'SERVER' };

const turnStart = (turn: number): Draft => ({ type: 'turn/start', data: { turn } });
const turnEnd = (turn: number): Draft => ({ type: 'turn/end', data: { turn, reason: { kind: 'completed' } } });
const stepStart = (turn: number, step: number): Draft => ({ type: 'step/start', data: { turn, step } });
const stepEnd = (turn: number, step: number): Draft => ({ type: 'step/end', data: { turn, step } });
const chunk = (turn: number, step: number): Draft => ({
  type: 'assistant/chunk',
  data: { turn, step, chunk: { type: 'text-delta', index: 0, text: 't' } },
});
const answer = (turn: number, step: number, ...ids: readonly string[]): Draft => {
  const calls = ids.map((id) => ({ type: 'tool-call', id, name: 't', arguments: '' }) as const);
  return { type: 'assistant/message', data: { turn, step, message: said(...calls) }, ...append };
};
const call = (turn: number, step: number, callId = 'c'): Draft => ({
  type: 'tool/call',
  data: { turn, step, callId, name: 't', arguments: '' },
});
const result = (turn: number, step: number, callId = 'c', more: object = {}): Draft => ({
  type: 'tool/result',
  data: { turn, step, message: resultOf(callId, 'r'), ...more },
  ...append,
});
const notStarted = (turn: number, step: number, callId = 'c'): Draft =>
  result(turn, step, callId, { error: { name: 'ToolNotStartedError', code: 'TOOL_NOT_STARTED' } });
const pruned = (turn: number, step: number): Draft => ({
  ...result(turn, step),
  surfaceOp: { op: 'replace', start: 0, end: 0 },
  sourceEventSeqs: [0],
});
const retry = (turn: number, step: number): Draft => ({
  type: 'llm/retry',
  data: { retryId: 'r', turn, step, provider: 'p', mode: 'always', policyKey: 'k', retry: 1, delayMs: 1, failure },
});
const retryStarted = (turn: number, step: number): Draft => ({
  type: 'llm/retry-started',
  data: { retryId: 'r', turn, step, retry: 1 },
});
const header: Draft = { type: 'request/header', data: { header: { config: { provider: 'p', model: 'm' } } } };
const context: Draft = { type: 'request/context', data: { provider: 'p', model: 'm' } };
const todo: Draft = { type: 'todo/write', data: { todos: [] } };

const inTurn = [turnStart(1)];
const inStep = [...inTurn, stepStart(1, 1)];
const afterStep = [...inStep, stepEnd(1, 1)];
const afterTurn = [...afterStep, turnEnd(1)];
const inSecond = [...afterTurn, turnStart(2), stepStart(2, 1)];
const withCall = [...inStep, answer(1, 1, 'c'), call(1, 1)];

/** After these events, this one. */
type Case = readonly [string, readonly Draft[], Draft];

const allowed: readonly Case[] = [
  ['the first turn', [], turnStart(1)],
  ['the next turn', afterTurn, turnStart(2)],
  ['the end of a turn without steps', inTurn, turnEnd(1)],
  ['the end of a turn after its step', afterStep, turnEnd(1)],
  ['the first step', inTurn, stepStart(1, 1)],
  ['the next step', afterStep, stepStart(1, 2)],
  ['step 1 of the next turn', [...afterTurn, turnStart(2)], stepStart(2, 1)],
  ['the end of the open step', inStep, stepEnd(1, 1)],
  ['the end of a step with an unanswered call', withCall, stepEnd(1, 1)],
  ['a chunk in its step', inStep, chunk(1, 1)],
  ['a chunk in step 1 of turn 2', inSecond, chunk(2, 1)],
  ['an answer in its step', inStep, answer(1, 1)],
  ['a call in its step', inStep, call(1, 1)],
  ['a result of a logged call', withCall, result(1, 1)],
  [
    'results in another order than the calls',
    [...inStep, answer(1, 1, 'c', 'd'), call(1, 1), call(1, 1, 'd'), result(1, 1, 'd')],
    result(1, 1),
  ],
  [
    'a result for each of two calls with one id',
    [...inStep, answer(1, 1, 'c', 'c'), call(1, 1), call(1, 1), result(1, 1)],
    result(1, 1),
  ],
  ['a result for a call that was never logged, as not started', [...inStep, answer(1, 1, 'c')], notStarted(1, 1)],
  ['a retry in its step', inStep, retry(1, 1)],
  ['the end of its wait', inStep, retryStarted(1, 1)],
  ['a replaced result in its step', [...withCall, result(1, 1)], pruned(1, 1)],
  ['a replaced result between steps, of an earlier turn', [...inSecond, stepEnd(2, 1)], pruned(1, 1)],
  ['a header between steps', inTurn, header],
  ['a header in a step', inStep, header],
  ['a context in a turn', inTurn, context],
  ['a todo list in a turn', inTurn, todo],
];

const refused: readonly (readonly [...Case, string])[] = [
  ['a first turn 2', [], turnStart(2), 'must begin turn 1, not 2'],
  ['a turn again', afterTurn, turnStart(1), 'must begin turn 2, not 1'],
  ['a gap between turns', afterTurn, turnStart(3), 'must begin turn 2, not 3'],
  ['a turn inside a turn', inTurn, turnStart(2), 'must not begin while turn 1 is open'],
  ['a turn without a number', [], { type: 'turn/start', data: {} }, 'must begin turn 1, not nothing'],
  ['the end of no turn', [], turnEnd(1), 'must be inside a turn'],
  ['the end of a closed turn', afterTurn, turnEnd(1), 'must be inside a turn'],
  ['the end of another turn', inTurn, turnEnd(2), 'must name turn 1, which is open, not 2'],
  ['the end of a turn with an open step', inStep, turnEnd(1), 'must not come while step 1 is open'],
  ['a step outside a turn', [], stepStart(1, 1), 'must be inside a turn'],
  ['a step after its turn', afterTurn, stepStart(1, 2), 'must be inside a turn'],
  ['a step of another turn', inTurn, stepStart(2, 1), 'must name turn 1, which is open, not 2'],
  ['a step inside a step', inStep, stepStart(1, 2), 'must not begin while step 1 is open'],
  ['a gap between steps', afterStep, stepStart(1, 3), 'must begin step 2, not 3'],
  ['a step that goes on counting in a new turn', [...afterTurn, turnStart(2)], stepStart(2, 2), 'must begin step 1'],
  ['the end of no step', inTurn, stepEnd(1, 1), 'must be inside a step'],
  ['the end of another step', inStep, stepEnd(1, 2), 'must name turn 1 and step 1, which are open, not 1 and 2'],
  ['a result without any call', inStep, result(1, 1), 'must answer a tool/call of the same step: none of "c" is open'],
  ['a result of a call that was not logged', [...inStep, answer(1, 1, 'c')], result(1, 1), 'must answer a tool/call'],
  ['a second result of a call (G7)', [...withCall, result(1, 1)], result(1, 1), 'must answer a tool/call'],
  ['a result of another call', withCall, result(1, 1, 'd'), 'must answer a tool/call'],
  [
    'a result of a call of the step before',
    [...withCall, stepEnd(1, 1), stepStart(1, 2)],
    result(1, 2),
    'must answer a tool/call of the same step',
  ],
  ['a replaced result outside a turn', afterTurn, pruned(1, 1), 'must be inside a turn'],
  ['a header outside a turn', [], header, 'must be inside a turn'],
  ['a context after a turn', afterTurn, context, 'must be inside a turn'],
  ['a todo list outside a turn', [], todo, 'must be inside a turn'],
];

const anywhere = [
  'user/message',
  'agent/inbox/spliced',
  'session/title',
  'session/end-seed',
  'subagent/descriptor',
  'agent-preset/selected',
  'approval/policy',
  'sandbox/mode',
  'permission/preset',
  'compaction/start',
  'compaction/end',
  'hook/invoked',
  'plan/mode',
] as const;

const stepScoped = { chunk, answer, call, notStarted, retry, retryStarted };

function sealed({ type, data, ...rest }: Draft, seq: number): SessionEvent {
  return sealEvent({ type, data, ...rest, seq, time: 1 });
}

function tracked(drafts: readonly Draft[]): { tracker: TurnTracker; seq: number } {
  const tracker = new TurnTracker();
  for (const [seq, draft] of drafts.entries()) {
    const event = sealed(draft, seq);
    tracker.check(event);
    tracker.commit(event);
  }
  return { tracker, seq: drafts.length };
}

function expectRefused(drafts: readonly Draft[], draft: Draft, rule: string): void {
  const { tracker, seq } = tracked(drafts);
  const before = [tracker.lastTurn, tracker.openTurn];
  expect(() => tracker.check(sealed(draft, seq + 1)))
    .to.throw(`invalid event: ${draft.type} ${rule}`)
    .with.property('code', 'INVALID_EVENT');
  expect([tracker.lastTurn, tracker.openTurn]).to.deep.equal(before);
}

describe('TurnTracker', () => {
  for (const [name, drafts, draft] of allowed) {
    it(`allows ${name}`, () => {
      expect(() => tracked([...drafts, draft])).to.not.throw();
    });
  }

  for (const [name, drafts, draft, rule] of refused) {
    it(`refuses ${name}`, () => expectRefused(drafts, draft, rule));
  }

  for (const [name, make] of Object.entries(stepScoped)) {
    it(`refuses a step's ${name} outside a step, in another step and in another turn`, () => {
      expectRefused([], make(1, 1), 'must be inside a step');
      expectRefused([], make(0, 0), 'must be inside a step');
      expectRefused(inTurn, make(1, 0), 'must be inside a step');
      expectRefused(afterStep, make(1, 1), 'must be inside a step');
      expectRefused(inStep, make(1, 2), 'must name turn 1 and step 1, which are open, not 1 and 2');
      expectRefused(inSecond, make(1, 1), 'must name turn 2 and step 1, which are open, not 1 and 1');
    });
  }

  for (const type of anywhere) {
    it(`takes ${type} anywhere`, () => {
      expect(isKnownEventType(type)).to.equal(true);
      const event = { type, seq: 9, time: 1, data: {} } as unknown as SessionEvent;
      for (const drafts of [[], inTurn, inStep, afterTurn])
        expect(() => tracked(drafts).tracker.check(event)).to.not.throw();
    });
  }

  it('takes an event of an unknown type anywhere', () => {
    const event = sealEvent({ type: 'x/y', seq: 0, time: 1, data: { turn: 7 }, ignorable: true });
    for (const drafts of [[], inTurn, inStep]) expect(() => tracked(drafts).tracker.check(event)).to.not.throw();
  });

  it('says what is open', () => {
    const at = (drafts: readonly Draft[]) => tracked(drafts).tracker.openTurn;
    expect(at([])).to.equal(undefined);
    expect(at(inTurn)).to.deep.equal({ turn: 1, step: undefined, calls: [] });
    expect(at([...inStep, answer(1, 1, 'c', 'd', 'c'), call(1, 1)])).to.deep.equal({
      turn: 1,
      step: 1,
      calls: [
        { callId: 'c', seq: 3 },
        { callId: 'd', seq: undefined },
        { callId: 'c', seq: undefined },
      ],
    });
    const calls = [...inStep, answer(1, 1, 'c', 'd', 'e'), call(1, 1), call(1, 1, 'd')];
    expect(at([...calls, result(1, 1), notStarted(1, 1, 'e')])?.calls).to.deep.equal([{ callId: 'd', seq: 4 }]);
    expect(at([...withCall, stepEnd(1, 1)])).to.deep.equal({ turn: 1, step: undefined, calls: [] });
    expect(at([...withCall, stepEnd(1, 1), stepStart(1, 2)])).to.deep.equal({ turn: 1, step: 2, calls: [] });
    expect(at(afterTurn)).to.equal(undefined);
  });

  it('takes no replaced result for the answer to another call of the same id', () => {
    const calls = [...inStep, answer(1, 1, 'c', 'c'), call(1, 1), call(1, 1), result(1, 1)];
    expect(tracked([...calls, pruned(1, 1)]).tracker.openTurn?.calls).to.deep.equal([{ callId: 'c', seq: 4 }]);
  });

  it('gives what was open, whatever comes later', () => {
    const { tracker, seq } = tracked(withCall);
    const before = tracker.openTurn;
    tracker.commit(sealed(result(1, 1), seq));
    expect(before?.calls).to.have.length(1);
    expect(tracker.openTurn?.calls).to.have.length(0);
  });

  it('does not ask again for calls of an answer that replaces another', () => {
    const replaced = { ...answer(1, 1, 'd'), surfaceOp: { op: 'replace', start: 2, end: 2 }, sourceEventSeqs: [2] };
    expect(tracked([...withCall, replaced]).tracker.openTurn?.calls).to.deep.equal([{ callId: 'c', seq: 3 }]);
  });
});
