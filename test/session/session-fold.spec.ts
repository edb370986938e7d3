import { expect } from 'chai';
import { array, assert, asyncProperty, boolean, constantFrom, integer, record, string } from 'fast-check';
import type { SessionEvent } from '../../src/protocol/index.js';
import type { Session } from '../../src/session/index.js';
import { MemorySessionRepository } from '../../src/session/memory-session-repository.js';
import { SessionFold } from '../../src/session/session-fold.js';
import { human, resultOf, SessionWorld, said } from '../support/session-world.js';

const kinds = ['turn', 'user', 'chunk', 'answer', 'empty answer', 'result', 'header', 'context', 'title'] as const;
const step = record({ kind: constantFrom(...kinds), text: string(), flag: boolean(), number: integer({ min: 1 }) });

function apply(
  session: Session,
  { kind, text, flag, number }: { kind: string; text: string; flag: boolean; number: number },
): void {
  const at = { turn: number, step: 1 };
  const append = { surfaceOp: 'append' } as const;
  if (kind === 'turn') session.append('turn/start', { turn: number });
  if (kind === 'user') session.append('user/message', human(text), append);
  if (kind === 'chunk') session.append('assistant/chunk', { ...at, chunk: { type: 'text-delta', index: 0, text } });
  if (kind === 'answer') {
    const interrupted = flag ? { interrupted: true as const } : {};
    session.append('assistant/message', { ...at, message: said({ type: 'text', text }), ...interrupted }, append);
  }
  if (kind === 'empty answer') session.append('assistant/message', { ...at, message: said() }, append);
  if (kind === 'result') session.append('tool/result', { ...at, message: resultOf('c', text) }, append);
  if (kind === 'header')
    session.append('request/header', { header: { config: { provider: text, model: 'm' } }, reason: 'change' });
  if (kind === 'context') session.append('request/context', { provider: text, model: 'm', contextWindow: number });
  if (kind === 'title') session.append('session/title', { title: text, messageSeqs: [], source: { kind: 'user' } });
}

function folded(events: readonly SessionEvent[]): SessionFold {
  const fold = new SessionFold();
  for (const event of events) fold.commit(event);
  return fold;
}

describe('SessionFold', () => {
  it('gives the same event by event as from the stored log', async () => {
    await assert(
      asyncProperty(array(step, { maxLength: 40 }), async (steps) => {
        const world = await SessionWorld.over({ repository: new MemorySessionRepository() });
        const session = await world.create();
        session.append('turn/start', { turn: 1 });
        for (const one of steps) apply(session, one);
        await session.close();
        const events = await world.storedEvents();
        const whole = folded(events);
        expect(session.messages()).to.deep.equal(whole.messages());
        expect(session.requestHeader).to.deep.equal(whole.requestHeader);
        expect(session.requestContext).to.deep.equal(whole.requestContext);
        expect(session.lastTurn).to.equal(whole.lastTurn);
        expect(session.nextSeq).to.equal(whole.nextSeq).and.to.equal(events.length);
        expect(events.map(({ seq }) => seq)).to.deep.equal(events.map((_, index) => index));
        const surfaceOnly = folded(events.filter(({ surfaceOp }) => surfaceOp !== undefined));
        expect(surfaceOnly.messages()).to.deep.equal(whole.messages());
      }),
      { numRuns: 60 },
    );
  });

  it('starts empty', () => {
    const fold = new SessionFold();
    expect(fold.messages()).to.deep.equal([]);
    expect([fold.nextSeq, fold.lastTurn, fold.requestHeader, fold.requestContext]).to.deep.equal([
      0,
      0,
      undefined,
      undefined,
    ]);
  });

  it('takes the last header and context, and the message of an interrupted answer', async () => {
    const session = await (await SessionWorld.withFake()).create();
    const append = { surfaceOp: 'append' } as const;
    const at = { turn: 1, step: 1 };
    for (const provider of ['first', 'last']) {
      session.append('request/header', { header: { config: { provider, model: 'm' } }, reason: 'change' });
      session.append('request/context', { provider, model: 'm' });
    }
    session.append('user/message', human('q'), append);
    session.append('assistant/message', { ...at, message: said(), usage: { inputTokens: 1, outputTokens: 0 } }, append);
    const cut = said({ type: 'text', text: 'half' });
    session.append('assistant/message', { ...at, message: cut, interrupted: true }, append);
    session.append('tool/result', { ...at, message: resultOf('c', 'r') }, append);
    expect(session.messages()).to.deep.equal([human('q'), cut, resultOf('c', 'r')]);
    expect(session.requestHeader?.config.provider).to.equal('last');
    expect(session.requestContext?.provider).to.equal('last');
  });
});
