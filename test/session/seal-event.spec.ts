import { expect } from 'chai';
import { sealEvent } from '../../src/session/seal-event.js';
import { human, resultOf, said } from '../support/session-world.js';

const base = { seq: 5, time: 1 };
const user = { ...base, type: 'user/message', data: human('hi') };
const answer = { ...base, type: 'assistant/message', data: { turn: 1, step: 1, message: said() } };
const result = { ...base, type: 'tool/result', data: { turn: 1, step: 1, message: resultOf('c', 'ok') } };
const ok = resultOf('c', 'ok');
const [block] = ok.content;
const log = { ...base, type: 'turn/start', data: { turn: 1 } };

describe('sealEvent', () => {
  it('keeps the members in the order of the wire, and freezes them', () => {
    const event = sealEvent({ sourceEventSeqs: [3, 1], surfaceOp: 'append', ...user });
    expect(Object.keys(event)).to.deep.equal(['type', 'seq', 'time', 'data', 'surfaceOp', 'sourceEventSeqs']);
    expect(Object.keys(sealEvent(log))).to.deep.equal(['type', 'seq', 'time', 'data']);
    expect(event.sourceEventSeqs).to.deep.equal([3, 1]);
    expect(Object.isFrozen(event) && Object.isFrozen(event.sourceEventSeqs)).to.equal(true);
  });

  for (const draft of [user, answer, result]) {
    it(`lets a ${draft.type} onto the surface`, () => {
      expect(sealEvent({ ...draft, surfaceOp: 'append' }).surfaceOp).to.equal('append');
    });
  }

  it('takes a replacement, detached and frozen', () => {
    const surfaceOp = { op: 'replace', start: 1, end: 2 };
    const event = sealEvent({ ...user, surfaceOp, sourceEventSeqs: [1, 2] });
    surfaceOp.end = 9;
    expect(event.surfaceOp).to.deep.equal({ op: 'replace', start: 1, end: 2 });
    expect(Object.isFrozen(event.surfaceOp)).to.equal(true);
  });

  it('allows an empty list of sources on an assistant message only', () => {
    expect(sealEvent({ ...answer, surfaceOp: 'append', sourceEventSeqs: [] }).sourceEventSeqs).to.deep.equal([]);
  });

  it('accepts an unknown type that may be skipped', () => {
    const draft = { ...base, type: 'x/y', data: { a: 1 }, ignorable: true } as const;
    expect(sealEvent(draft)).to.deep.equal({ ...draft });
    expect(sealEvent({ ...user, surfaceOp: 'append', ignorable: true }).ignorable).to.equal(true);
  });

  const refused: readonly (readonly [string, Parameters<typeof sealEvent>[0], string])[] = [
    ['an unknown type', { ...log, type: 'x/y' }, 'type "x/y" is unknown'],
    ['data that is no object', { ...log, data: [] }, 'data must be an object'],
    ['data that is null', { ...log, data: null }, 'data must be an object'],
    ['a bad value in the data', { ...log, data: { turn: Number.NaN } }, 'data.turn is NaN, which JSON cannot carry'],
    ['a surface type without surfaceOp', user, 'surfaceOp is mandatory on user/message'],
    ['an unknown surfaceOp', { ...user, surfaceOp: 'prepend' }, 'surfaceOp must be "append" or {"op":"replace",'],
    ['a null surfaceOp', { ...user, surfaceOp: null }, 'surfaceOp must be "append" or {"op":"replace",'],
    ['an unknown op', { ...user, surfaceOp: { op: 'insert', start: 1, end: 2 } }, 'surfaceOp must be "append" or'],
    ['a replace with more', { ...user, surfaceOp: { op: 'replace', start: 1, end: 2, x: 1 } }, 'surfaceOp must be'],
    [
      'a replace from itself',
      { ...user, surfaceOp: { op: 'replace', start: 5, end: 2 } },
      'surfaceOp.start must be the seq of an earlier event',
    ],
    [
      'a replace to a negative seq',
      { ...user, surfaceOp: { op: 'replace', start: 1, end: -1 } },
      'surfaceOp.end must be the seq of an earlier event',
    ],
    ['surfaceOp elsewhere', { ...log, surfaceOp: 'append' }, 'surfaceOp is not allowed on turn/start'],
    ['sources elsewhere', { ...log, sourceEventSeqs: [1] }, 'sourceEventSeqs is not allowed on turn/start'],
    [
      'empty sources',
      { ...result, surfaceOp: 'append', sourceEventSeqs: [] },
      'sourceEventSeqs must not be empty on tool/result',
    ],
    [
      'sources that are no list',
      { ...user, surfaceOp: 'append', sourceEventSeqs: 1 },
      'sourceEventSeqs must be an array',
    ],
    ['a repeated source', { ...user, surfaceOp: 'append', sourceEventSeqs: [1, 1] }, 'sourceEventSeqs[1] repeats 1'],
    [
      'a source repeated later',
      { ...user, surfaceOp: 'append', sourceEventSeqs: [3, 1, 2, 3] },
      'sourceEventSeqs[3] repeats 3',
    ],
    [
      'itself as source',
      { ...user, surfaceOp: 'append', sourceEventSeqs: [5] },
      'sourceEventSeqs[0] must be the seq of an earlier event',
    ],
    [
      'a negative source',
      { ...user, surfaceOp: 'append', sourceEventSeqs: [0, -1] },
      'sourceEventSeqs[1] must be the seq of an earlier event',
    ],
    [
      'a negative zero',
      { ...user, surfaceOp: 'append', sourceEventSeqs: [-0] },
      'sourceEventSeqs[0] must be the seq of an earlier event',
    ],
    [
      'a fraction',
      { ...user, surfaceOp: 'append', sourceEventSeqs: [1.5] },
      'sourceEventSeqs[0] must be the seq of an earlier event',
    ],
    [
      'a hole',
      { ...user, surfaceOp: 'append', sourceEventSeqs: new Array(1) },
      'sourceEventSeqs[0] must be the seq of an earlier event',
    ],
    [
      'a message without content',
      { ...user, surfaceOp: 'append', data: { id: 'u' } },
      'data.content must be an array of content blocks',
    ],
    [
      'an answer without message',
      { ...answer, surfaceOp: 'append', data: { turn: 1 } },
      'data.message.content must be an array of content blocks',
    ],
    [
      'a block that is no object',
      { ...user, surfaceOp: 'append', data: { ...human('x'), content: [null] } },
      'data.content must be an array of content blocks',
    ],
    [
      'a block without a type',
      { ...answer, surfaceOp: 'append', data: { message: { content: [{ text: 'x' }] } } },
      'data.message.content must be an array of content blocks',
    ],
    [
      'a result of two blocks',
      { ...result, surfaceOp: 'append', data: { message: { ...ok, content: [block, block] } } },
      'data.message.content must be one tool-result block',
    ],
    [
      'a result of another block',
      { ...result, surfaceOp: 'append', data: { message: { ...ok, content: [{ type: 'text', text: 'x' }] } } },
      'data.message.content must be one tool-result block',
    ],
    [
      'a result without content',
      { ...result, surfaceOp: 'append', data: { message: { ...ok, content: [{ ...block, content: 'x' }] } } },
      'data.message.content must be one tool-result block',
    ],
    [
      'a result of another call than its source',
      { ...result, surfaceOp: 'append', data: { message: { ...ok, source: { kind: 'tool', callId: 'd' } } } },
      'data.message.source.callId must be the toolCallId of the result',
    ],
    [
      'a null message',
      { ...result, surfaceOp: 'append', data: { message: null } },
      'data.message.content must be an array of content blocks',
    ],
  ];
  for (const [name, draft, problem] of refused) {
    it(`refuses ${name}`, () => {
      expect(() => sealEvent(draft))
        .to.throw(`invalid event: ${problem}`)
        .with.property('code', 'INVALID_EVENT');
    });
  }
});
