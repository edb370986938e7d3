import { expect } from 'chai';
import type { SurfaceOp, ToolResultMessage } from '../../src/protocol/index.js';
import type { Session } from '../../src/session/index.js';
import { human, resultOf, SessionWorld, said } from '../support/session-world.js';

const append = { surfaceOp: 'append' } as const;
const at = { turn: 1, step: 1 };
const META = { rows: [1, { a: [2] }], '__proto__-like': null };

/** A step with messages at seqs 2 and 3, an empty answer at 4, and results at 6 (of the call at 5) and 8. */
async function filled(): Promise<Session> {
  const session = await (await SessionWorld.withFake()).create();
  session.append('turn/start', { turn: 1 });
  session.append('step/start', at);
  session.append('user/message', human('a'), append);
  session.append('user/message', human('b'), append);
  session.append('assistant/message', { ...at, message: said() }, append);
  for (const callId of ['c', 'd']) {
    const { seq } = session.append('tool/call', { ...at, callId, name: 't', arguments: '' });
    const data = { ...at, message: resultOf(callId, 'long'), meta: META };
    session.append('tool/result', data, { ...append, sourceEventSeqs: [seq] });
  }
  return session;
}

function replace(session: Session, start: number, end: number, sourceEventSeqs: readonly number[]): void {
  session.append('user/message', human('new'), { surfaceOp: { op: 'replace', start, end }, sourceEventSeqs });
}

function prune(session: Session, change: object, surfaceOp: SurfaceOp, sourceEventSeqs: readonly number[]): void {
  const data = { ...at, message: resultOf('c', 'short'), meta: structuredClone(META), ...change };
  session.append('tool/result', data, { surfaceOp, sourceEventSeqs });
}

function texts(session: Session): readonly string[] {
  return session.messages().map(({ id }) => id);
}

function expectRefused(session: Session, append: () => void, problem: string): void {
  const before = [session.nextSeq, session.messages()];
  expect(append).to.throw(`invalid event: ${problem}`).with.property('code', 'INVALID_EVENT');
  expect([session.nextSeq, session.messages()]).to.deep.equal(before);
}

describe('Surface', () => {
  const ranges: readonly (readonly [string, number, number, readonly number[], readonly string[]])[] = [
    ['a range at the head', 2, 3, [2, 3], ['u-new', 'r-c', 'r-d']],
    ['one message at the head', 2, 2, [2], ['u-new', 'u-b', 'r-c', 'r-d']],
    ['one message inside', 3, 3, [3], ['u-a', 'u-new', 'r-c', 'r-d']],
    ['a range inside, with an answer without content', 3, 6, [3, 4, 6], ['u-a', 'u-new', 'r-d']],
    ['an answer without content', 4, 4, [4], ['u-a', 'u-b', 'u-new', 'r-c', 'r-d']],
    ['the end', 8, 8, [8], ['u-a', 'u-b', 'r-c', 'u-new']],
    ['everything, citing more than that', 2, 8, [8, 6, 5, 4, 3, 2], ['u-new']],
  ];
  for (const [name, start, end, sources, left] of ranges) {
    it(`replaces ${name}, in place`, async () => {
      const session = await filled();
      replace(session, start, end, sources);
      expect(texts(session)).to.deep.equal(left);
    });
  }

  it('replaces what replaced: by its own seq, which is out of order there', async () => {
    const session = await filled();
    replace(session, 2, 3, [2, 3]);
    replace(session, 9, 6, [9, 4, 6]);
    expect(texts(session)).to.deep.equal(['u-new', 'r-d']);
    expectRefused(session, () => replace(session, 9, 8, [9, 8]), 'surfaceOp.start 9 is not in the history');
    expectRefused(session, () => replace(session, 8, 10, [8, 10]), 'surfaceOp.start 8 must not stand after');
  });

  const refused: readonly (readonly [string, number, number, readonly number[], string])[] = [
    ['a start that is no message', 1, 3, [1, 2, 3], 'surfaceOp.start 1 is not in the history'],
    ['an end that is no message', 3, 5, [3, 4, 5], 'surfaceOp.end 5 is not in the history'],
    ['a reversed range', 6, 3, [3, 4, 6], 'surfaceOp.start 6 must not stand after surfaceOp.end 3'],
    ['what it does not cite at the start', 2, 4, [3, 4], 'sourceEventSeqs must name event 2'],
    ['what it does not cite inside', 2, 4, [2, 4], 'sourceEventSeqs must name event 3'],
    ['what it does not cite at the end', 2, 4, [2, 3], 'sourceEventSeqs must name event 4'],
  ];
  for (const [name, start, end, sources, problem] of refused) {
    it(`does not replace ${name}`, async () => {
      const session = await filled();
      expectRefused(session, () => replace(session, start, end, sources), problem);
    });
  }

  it('does not replace without citing, or what was replaced before', async () => {
    const session = await filled();
    const surfaceOp = { op: 'replace', start: 2, end: 2 } as const;
    const problem = 'sourceEventSeqs must name event 2';
    expectRefused(session, () => session.append('user/message', human('x'), { surfaceOp }), problem);
    replace(session, 2, 2, [2]);
    expectRefused(session, () => replace(session, 2, 2, [2]), 'surfaceOp.start 2 is not in the history');
  });

  it('lets a tool result take the place of one whose content alone differs', async () => {
    const session = await filled();
    prune(session, {}, { op: 'replace', start: 6, end: 6 }, [6]);
    expect(texts(session)).to.deep.equal(['u-a', 'u-b', 'r-c', 'r-d']);
    const { content } = session.messages()[2] as ToolResultMessage;
    expect(content[0].content).to.deep.equal([{ type: 'text', text: 'short' }]);
    prune(session, {}, { op: 'replace', start: 9, end: 9 }, [9]);
    expect(session.messages()).to.have.length(4);
  });

  const result = resultOf('c', 'short');
  const changes: readonly (readonly [string, object])[] = [
    ['its message id', { message: { ...result, id: 'other' } }],
    ['its call', { message: resultOf('d', 'short') }],
    ['whether it failed', { message: { ...result, content: [{ ...result.content[0], isError: true }] } }],
    ['its error', { error: { name: 'E', code: 'E' } }],
    ['its step', { step: 2 }],
    ['its metadata, deep inside', { meta: { ...META, rows: [1, { a: [3] }] } }],
    ['the length of a list in its metadata', { meta: { ...META, rows: [1] } }],
    ['its metadata to none', { meta: null }],
  ];
  for (const [name, change] of changes) {
    it(`does not let a replacing tool result change ${name}`, async () => {
      const session = await filled();
      const problem = 'a tool/result may change only the content of the result that it replaces, event 6';
      expectRefused(session, () => prune(session, change, { op: 'replace', start: 6, end: 6 }, [6]), problem);
    });
  }

  it('does not let a tool result replace anything but one tool result', async () => {
    const session = await filled();
    const problem = 'a tool/result may replace one tool/result and nothing else';
    expectRefused(session, () => prune(session, {}, { op: 'replace', start: 3, end: 3 }, [3]), problem);
    expectRefused(session, () => prune(session, {}, { op: 'replace', start: 6, end: 8 }, [6, 8]), problem);
  });
});
