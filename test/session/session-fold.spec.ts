import { expect } from 'chai';
import { assert, asyncProperty } from 'fast-check';
import type { SessionEvent } from '../../src/protocol/index.js';
import { foldLog, SessionFold } from '../../src/session/session-fold.js';
import { runs } from '../support/runs.js';
import { anyMoves, historyOf, ScriptPlayer } from '../support/session-script.js';
import { human, resultOf, SessionWorld, said, stateOf } from '../support/session-world.js';

describe('SessionFold', () => {
  it('gives the same event by event as from the whole log, in any valid session', async () => {
    await assert(
      asyncProperty(anyMoves, async (moves) => {
        const seen: SessionEvent[] = [];
        const world = await SessionWorld.withFake([
          {
            sessionEvent: (session, event) => {
              seen.push(event);
              if (event.type !== 'assistant/chunk') expect(session.messages()).to.deep.equal(historyOf(seen));
            },
          },
        ]);
        const session = await world.create();
        new ScriptPlayer(session).playAll(moves);
        await session.close();
        expect(world.logger.messages('error')).to.deep.equal([]);
        const events = await world.storedEvents();
        expect(events).to.deep.equal(seen);
        expect(events.map(({ seq }) => seq)).to.deep.equal(events.map((_, index) => index));
        expect(stateOf(session)).to.deep.equal(stateOf(foldLog(events)));
      }),
      runs(100),
    );
  });

  it('derives the history from surface events alone', async () => {
    await assert(
      asyncProperty(anyMoves, async (moves) => {
        const world = await SessionWorld.withFake();
        const session = await world.create();
        new ScriptPlayer(session).playAll(moves);
        session.save();
        const fold = new SessionFold();
        for (const event of await world.storedEvents()) if (event.surfaceOp !== undefined) fold.commit(event);
        expect(fold.messages()).to.deep.equal(session.messages());
      }),
      runs(50),
    );
  });

  it('starts empty', () => {
    const fold = new SessionFold();
    expect(fold.messages()).to.deep.equal([]);
    expect([fold.nextSeq, fold.lastTurn, fold.openTurn]).to.deep.equal([0, 0, undefined]);
    expect([fold.requestHeader, fold.requestContext, fold.title]).to.deep.equal([undefined, undefined, undefined]);
    expect(fold.pendingInbox).to.deep.equal({ 'next-turn': [], 'next-step': [] });
  });

  it('takes the last header, context and title, and the message of an interrupted answer', async () => {
    const session = await (await SessionWorld.withFake()).create();
    const append = { surfaceOp: 'append' } as const;
    const at = { turn: 1, step: 1 };
    session.append('turn/start', { turn: 1 });
    session.append('step/start', at);
    for (const provider of ['first', 'last']) {
      session.append('request/header', { header: { config: { provider, model: 'm' } }, reason: 'change' });
      session.append('request/context', { provider, model: 'm' });
      session.append('session/title', { title: provider, messageSeqs: [], source: { kind: 'user' } });
    }
    session.append('user/message', human('q'), append);
    session.append('assistant/message', { ...at, message: said(), usage: { inputTokens: 1, outputTokens: 0 } }, append);
    const cut = said({ type: 'text', text: 'half' });
    session.append('assistant/message', { ...at, message: cut, interrupted: true }, append);
    session.append('tool/call', { ...at, callId: 'c', name: 't', arguments: '' });
    session.append('tool/result', { ...at, message: resultOf('c', 'r') }, append);
    expect(session.messages()).to.deep.equal([human('q'), cut, resultOf('c', 'r')]);
    expect(session.requestHeader?.config.provider).to.equal('last');
    expect(session.requestContext?.provider).to.equal('last');
    expect(session.title).to.equal('last');
  });

  it('keeps sessions apart', async () => {
    const world = await SessionWorld.withFake();
    const [one, two] = [await world.create('one'), await world.create('two')];
    one.append('turn/start', { turn: 1 });
    expect(() => two.append('step/start', { turn: 1, step: 1 })).to.throw('must be inside a turn');
    two.append('turn/start', { turn: 1 });
    expect([one.lastTurn, two.lastTurn]).to.deep.equal([1, 1]);
  });
});
