import { expect } from 'chai';
import * as fc from 'fast-check';
import type { CancelCause, StreamChunk } from '../../src/protocol/index.js';
import { AgentWorld, prompt } from '../support/agent-world.js';
import { type Answered, chunksOf, hangs } from '../support/fake-model.js';
import { outcome, untilAborted } from '../support/fake-tools.js';
import { readLog } from '../support/read-log.js';
import { runs } from '../support/runs.js';

type Action =
  | { readonly do: 'followup' | 'steer' | 'inject' }
  | { readonly do: 'cancel'; readonly cause: CancelCause; readonly keepInbox: boolean }
  | { readonly do: 'break' | 'heal' };

interface Script {
  /** Played one after the other, each after waiting for so many events. */
  readonly actions: readonly { readonly action: Action; readonly wait: number }[];
  readonly answers: readonly { readonly answer: Answered; readonly batch: number; readonly hangs: boolean }[];
  readonly tools: readonly ('ok' | 'fails' | 'hangs' | 'throws')[];
}

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom('followup', 'steer', 'inject') }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('cancel' as const),
      cause: fc.constantFrom<CancelCause>({ kind: 'user' }, { kind: 'parent' }, { kind: 'hook', reason: 'r' }),
      keepInbox: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('break', 'heal') }) },
);

const answer: fc.Arbitrary<Answered> = fc.record(
  {
    text: fc.constantFrom('', ' ', 'a b c'),
    reasoning: fc.constantFrom('hm', 'h m m'),
    calls: fc
      .integer({ min: 1, max: 3 })
      .map((n) => Array.from({ length: n }, (_, i) => ({ id: `c-${i}`, name: 'echo' }))),
    finish: fc.constantFrom<Answered['finish'] & object>(
      { kind: 'stop' },
      { kind: 'max-tokens' },
      { kind: 'error', failure: { code: 'AUTH', message: 'down' } },
    ),
  },
  { requiredKeys: [] },
);

const script: fc.Arbitrary<Script> = fc.record({
  actions: fc.array(fc.record({ action, wait: fc.nat(25) }), { maxLength: 12 }),
  answers: fc.array(fc.record({ answer, batch: fc.integer({ min: 1, max: 5 }), hangs: fc.boolean() }), {
    maxLength: 8,
  }),
  tools: fc.array(fc.constantFrom('ok', 'fails', 'hangs', 'throws'), { maxLength: 6 }),
});

/** Plays a script; what hangs is cancelled at the end. */
async function play({ actions, answers, tools }: Script): Promise<void> {
  const world = await AgentWorld.create();
  const bodies = [...tools];
  world.tools.body = (_, signal) => {
    const next = bodies.shift() ?? 'ok';
    if (next === 'throws') throw new Error('broken executor');
    return next === 'hangs' ? untilAborted(signal) : outcome(next, next === 'fails');
  };
  for (const { answer, batch, hangs: stuck } of answers) {
    const chunks = chunksOf(answer);
    world.model.replies.push(async function* (request) {
      for (let at = 0; at < (stuck ? chunks.length >> 1 : chunks.length); at += batch) {
        if (at > 0) await new Promise<void>((resolve) => setImmediate(resolve));
        yield chunks.slice(at, Math.min(at + batch, stuck ? chunks.length >> 1 : chunks.length)) as StreamChunk[];
      }
      if (stuck) yield* hangs(request);
    });
  }
  const agent = await world.agent();
  const receipts: Promise<unknown>[] = [];
  let sent = 0;
  let taken = 0;
  const perform = (what: Action): void => {
    switch (what.do) {
      case 'cancel':
        agent.cancel(what.cause, { keepInbox: what.keepInbox });
        return;
      case 'break':
        world.repository.beforeAppend = () => {
          throw new Error('disk full');
        };
        return;
      case 'heal':
        world.repository.beforeAppend = () => undefined;
        return;
      default:
        receipts.push(
          agent[what.do](prompt('x', `m-${sent++}`)).then(
            () => {
              taken += 1;
            },
            (thrown: unknown) => expect(thrown).to.have.property('code', 'STORE_FAILED'),
          ),
        );
    }
  };
  const todo = [...actions];
  let due = todo[0]?.wait ?? 0;
  world.react = () => {
    due -= 1;
    while (due < 0 && todo.length > 0) {
      const next = todo.shift();
      due = todo[0]?.wait ?? 0;
      if (next !== undefined) perform(next.action);
    }
  };
  while (todo.length > 0) {
    const next = todo.shift();
    due = todo[0]?.wait ?? 0;
    if (next !== undefined) perform(next.action);
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  await Promise.all(receipts);
  world.react = () => undefined;
  world.repository.beforeAppend = () => undefined;
  while (agent.status === 'running') {
    agent.cancel({ kind: 'user' });
    await agent.whenIdle();
  }
  world.model.replies.length = 0;
  bodies.length = 0;
  const { claimed, cancelled, pending, ends } = world.balance();
  expect(new Set([...claimed, ...cancelled, ...pending]).size).to.equal(
    claimed.length + cancelled.length + pending.length,
  );
  expect(claimed.length + cancelled.length + pending.length).to.be.within(taken, sent);
  expect(ends).to.have.lengthOf(world.events('turn/start').length);
  expect(world.errors.filter((message) => message !== 'session is unsaved')).to.deep.equal([]);
  const next = await world.ran(['afterwards']);
  expect(next.status).to.equal('idle');
  const events = world.heard().flatMap((item) => ('event' in item ? [item.event] : []));
  await world.close();
  expect((await readLog(world.repository, 's')).events).to.deep.equal(events);
}

describe('agent under random scripts', () => {
  it('keeps every log balanced, with one end a turn, and the agent usable', async function () {
    this.timeout(60_000);
    await fc.assert(fc.asyncProperty(script, play), runs(300));
  });
});
