import { expect } from 'chai';
import { assert, asyncProperty, nat } from 'fast-check';
import type { Message, SessionEvent, SessionEventOf } from '../../src/protocol/index.js';
import { closersFor } from '../../src/session/crash-repair.js';
import type { Session } from '../../src/session/index.js';
import { foldLog } from '../../src/session/session-fold.js';
import { FakeRepository } from '../support/fake-repository.js';
import { runs } from '../support/runs.js';
import { anyMoves, ScriptPlayer } from '../support/session-script.js';
import { human, resultOf, SessionWorld, said, stateOf } from '../support/session-world.js';

const append = { surfaceOp: 'append' } as const;

function ask(session: Session, turn: number, text: string): void {
  const insertion = { target: 'next-turn', start: 0 } as const;
  session.append('agent/inbox/spliced', { ...insertion, inserted: [human(text)] });
  session.append('turn/start', { turn });
  session.append('agent/inbox/spliced', { ...insertion, removedCount: 1, inserted: [] });
  session.append('step/start', { turn, step: 1 });
  session.append('user/message', human(text), append);
}

function answer(session: Session, at: { turn: number; step: number }, ...ids: readonly string[]): void {
  const calls = ids.map((id) => ({ type: 'tool-call', id, name: 't', arguments: '{}' }) as const);
  const { seq } = session.append('assistant/chunk', { ...at, chunk: { type: 'text-delta', index: 0, text: 'x' } });
  const message = said({ type: 'text', text: 'x' }, ...calls);
  session.append('assistant/message', { ...at, message }, { ...append, sourceEventSeqs: [seq] });
}

/** Two turns: in each a step with three parallel calls, committed in model order, and one that concludes. */
async function toolTurns(): Promise<readonly SessionEvent[]> {
  const world = await SessionWorld.withFake();
  const session = await world.create();
  for (const turn of [1, 2]) {
    ask(session, turn, `q${turn}`);
    const at = { turn, step: 1 };
    answer(session, at, 'a', 'b', 'c');
    const call = (callId: string): number =>
      session.append('tool/call', { ...at, callId, name: 't', arguments: '' }).seq;
    const result = (callId: string, seq: number): void => {
      session.append('tool/result', { ...at, message: resultOf(callId, 'ok') }, { ...append, sourceEventSeqs: [seq] });
    };
    const [a, b] = [call('a'), call('b')];
    result('a', a);
    const c = call('c');
    result('b', b);
    result('c', c);
    session.append('step/end', at);
    session.append('step/start', { turn, step: 2 });
    answer(session, { turn, step: 2 });
    session.append('step/end', { turn, step: 2 });
    session.append('turn/end', { turn, reason: { kind: 'completed' } });
  }
  session.save();
  return world.storedEvents();
}

/** A store that holds just these events. */
function holding(events: readonly SessionEvent[]): FakeRepository {
  const repository = new FakeRepository();
  const header = { type: 'session', version: 0, id: 's', createdAt: 1, cwd: '/ws', delegationDepth: 0 } as const;
  const lines = events.map((event) => ({ seq: event.seq, json: JSON.stringify(event) }));
  repository.stored.set('s', { header, lines });
  return repository;
}

/** Opens the log, as the next process does; gives what stands in it then, and what listeners heard. */
async function reopened(
  events: readonly SessionEvent[],
): Promise<{ stored: readonly SessionEvent[]; added: readonly SessionEvent[] }> {
  const heard: SessionEvent[] = [];
  const world = await SessionWorld.over({
    repository: holding(events),
    listeners: [{ sessionEvent: (_, event) => void heard.push(event) }],
  });
  const session = await world.create();
  const stored = await world.storedEvents();
  expect(heard).to.deep.equal(stored.slice(events.length));
  expect(stateOf(session)).to.deep.equal(stateOf(foldLog(stored)));
  await session.close();
  expect(await world.storedEvents()).to.have.length(stored.length);
  return { stored, added: heard };
}

/** Ids of calls in the history without a result behind them, and of results without a call before them. */
function unpaired(history: readonly Message[]): readonly string[] {
  const open: string[] = [];
  const strays: string[] = [];
  for (const block of history.flatMap((message) => [...message.content])) {
    if (block.type === 'tool-call') open.push(block.id);
    if (block.type !== 'tool-result') continue;
    const at = open.indexOf(block.toolCallId);
    if (at < 0) strays.push(block.toolCallId);
    else open.splice(at, 1);
  }
  return [...open, ...strays];
}

/** The calls of the open step that have no result, and the seq under which each was logged, found the plain way. */
function owed(events: readonly SessionEvent[]): readonly (readonly [string, number | undefined])[] {
  const step = events.slice(events.findLastIndex(({ type }) => type === 'step/start' || type === 'step/end'));
  if (step[0]?.type !== 'step/start') return [];
  const asked = step.flatMap((event) => (event.type === 'assistant/message' ? event.data.message.content : []));
  const calls = asked.flatMap((block) => (block.type === 'tool-call' ? [block.id] : []));
  const answered = new Set(
    step.flatMap((event) => (event.type === 'tool/result' ? [event.data.message.source.callId] : [])),
  );
  const seqOf = (id: string) => step.find((event) => event.type === 'tool/call' && event.data.callId === id)?.seq;
  return calls.filter((id) => !answered.has(id)).map((id) => [id, seqOf(id)]);
}

function resultsIn(events: readonly SessionEvent[]): readonly SessionEventOf<'tool/result'>[] {
  return events.filter((event) => event.type === 'tool/result');
}

describe('crash repair', () => {
  it('closes a log that was cut after any event, once (G6, G7, D11)', async () => {
    const events = await toolTurns();
    expect(events.length).to.be.greaterThan(35);
    for (let cut = 1; cut <= events.length; cut += 1) {
      const left = events.slice(0, cut);
      const { stored, added } = await reopened(left);
      expect(stored.slice(0, cut)).to.deep.equal(left);
      expect(added.map(({ time }) => time)).to.deep.equal(added.map(() => left.at(-1)?.time));
      const fold = foldLog(stored);
      expect(fold.openTurn).to.equal(undefined);
      expect(unpaired(fold.messages()), `cut at ${cut}`).to.deep.equal([]);
      const results = resultsIn(added);
      const asOwed = results.map(({ data, sourceEventSeqs }) => [data.message.source.callId, sourceEventSeqs?.[0]]);
      expect(asOwed).to.deep.equal(owed(left));
      for (const { data, sourceEventSeqs, seq } of results) {
        const { id, source, content } = data.message;
        expect(id).to.equal(`interrupted-tool-result-${source.callId}-${seq}`);
        expect(content[0]).to.include({ isError: true, toolCallId: source.callId });
        const isLogged = sourceEventSeqs !== undefined;
        expect(data.error).to.deep.equal(
          isLogged
            ? { name: 'ToolOutcomeUnknownError', code: 'TOOL_OUTCOME_UNKNOWN' }
            : { name: 'ToolNotStartedError', code: 'TOOL_NOT_STARTED' },
        );
        expect(JSON.stringify(content)).to.match(isLogged ? /unknown.*only if that is safe/ : /may be made again/);
      }
      expect((await reopened(stored)).added).to.deep.equal([]);
    }
  });

  it('ends the turn as interrupted, which no cancel does (G9)', async () => {
    const events = await toolTurns();
    const end = events.findLastIndex(({ type }) => type === 'turn/end');
    const { added } = await reopened(events.slice(0, end));
    expect(added.map(({ type, data }) => ({ type, data }))).to.deep.equal([
      { type: 'turn/end', data: { turn: 2, reason: { kind: 'interrupted' } } },
    ]);
  });

  it('goes on with a repair that was cut itself', async () => {
    const events = await toolTurns();
    const answered = events.findIndex(({ type }) => type === 'assistant/message');
    const { stored, added } = await reopened(events.slice(0, answered + 3));
    expect(added.map(({ type }) => type)).to.deep.equal([...Array(3).fill('tool/result'), 'step/end', 'turn/end']);
    for (let cut = stored.length - added.length; cut < stored.length; cut += 1) {
      expect((await reopened(stored.slice(0, cut))).stored).to.deep.equal(stored);
    }
  });

  it('closes any valid session, cut anywhere, and leaves nothing for a second time', async () => {
    await assert(
      asyncProperty(anyMoves, nat(), async (moves, at) => {
        const world = await SessionWorld.withFake();
        const session = await world.create();
        new ScriptPlayer(session).playAll(moves);
        session.save();
        if (session.nextSeq === 0) return;
        const left = (await world.storedEvents()).slice(0, 1 + (at % session.nextSeq));
        const { stored } = await reopened(left);
        expect(stored.slice(0, left.length)).to.deep.equal(left);
        expect(closersFor(foldLog(stored))).to.deep.equal([]);
        expect((await reopened(stored)).added).to.deep.equal([]);
      }),
      runs(60),
    );
  });

  it('answers each of several calls that share an id', async () => {
    const world = await SessionWorld.withFake();
    const session = await world.create();
    ask(session, 1, 'q');
    answer(session, { turn: 1, step: 1 }, 'a', 'a');
    session.append('tool/call', { turn: 1, step: 1, callId: 'a', name: 't', arguments: '' });
    session.save();
    const { stored, added } = await reopened(await world.storedEvents());
    expect(resultsIn(added).map(({ data }) => data.error?.code)).to.deep.equal([
      'TOOL_OUTCOME_UNKNOWN',
      'TOOL_NOT_STARTED',
    ]);
    expect(
      new Set(
        foldLog(stored)
          .messages()
          .map(({ id }) => id),
      ).size,
    ).to.equal(4);
  });

  it('has nothing to close in an empty log', () => {
    expect(closersFor(foldLog([]))).to.deep.equal([]);
  });
});
