import { getEventListeners } from 'node:events';
import { setImmediate as nextTick } from 'node:timers/promises';
import { expect } from 'chai';
import { ContainerModule } from 'inversify';
import { type Agent, SystemPrompt } from '../../src/agent/index.js';
import { Deferred } from '../../src/base/index.js';
import { defineModule } from '../../src/kernel/index.js';
import type { SessionEvent, SessionEventType, StreamChunk } from '../../src/protocol/index.js';
import { AgentWorld, prompt, readable } from '../support/agent-world.js';
import { chunksOf, hangs, hangsForGood, says } from '../support/fake-model.js';
import { outcome, untilAborted } from '../support/fake-tools.js';

const USER = { kind: 'user' } as const;
const ABORTED = { kind: 'aborted', reason: USER } as const;
const CALLS = ['c-1', 'c-2', 'c-3'].map((id) => ({ id, name: 'echo' }));
const HALF = chunksOf({ reasoning: 'thinking it over', text: 'so far so good', calls: CALLS.slice(0, 1) });

/** A moment in the life of the first turn: `arrange` has `cancel` called then. */
interface Window {
  readonly at: string;
  arrange(world: AgentWorld, cancel: () => void): void;
  /** What the turn says after its claim; the chunks as one. */
  readonly says?: readonly string[];
  /** The interrupted message's blocks. */
  readonly keeps?: readonly string[];
  /** Ids of the calls whose bodies ran. */
  readonly runs?: readonly string[];
  /** How the first turn ends; undefined when there is none. Default: aborted. */
  readonly ends?: { readonly kind: 'completed' } | undefined;
}

const REQUEST = ['step/start', 'user/message', 'request/header', 'request/context'];
const TOOL_STEP = ['assistant/chunk', 'assistant/message', ...CALLS.flatMap(() => ['tool/call', 'tool/result'])];

function after(type: SessionEventType, nth = 1): Window['arrange'] {
  return (world, cancel) => {
    let left = nth;
    world.react = (event) => {
      if (event.type === type && --left === 0) cancel();
    };
  };
}

/** The model streams `chunks` and then nothing; the cancel comes after all of them were logged. */
function midStream(...chunks: readonly StreamChunk[]): Window['arrange'] {
  return (world, cancel) => {
    world.model.replies.push((request) => hangs(request, ...chunks));
    after('assistant/chunk', chunks.length)(world, () => setImmediate(cancel));
  };
}

function onTools(arrange: Window['arrange']): Window['arrange'] {
  return (world, cancel) => {
    world.model.replies.push(() => says({ calls: CALLS }));
    arrange(world, cancel);
  };
}

const WINDOWS: readonly Window[] = [
  {
    at: 'as running is told',
    arrange: (world, cancel) => {
      world.onStatus = (_, status) => {
        if (status !== 'running') return;
        world.onStatus = () => undefined;
        cancel();
      };
    },
    ends: undefined,
  },
  { at: 'at turn/start', arrange: after('turn/start'), says: [] },
  { at: 'at the claim', arrange: after('agent/inbox/spliced', 2), says: [] },
  { at: 'at step/start', arrange: after('step/start'), says: ['step/start', 'user/message', 'step/end'] },
  { at: 'at user/message', arrange: after('user/message'), says: ['step/start', 'user/message', 'step/end'] },
  { at: 'at request/header', arrange: after('request/header'), says: [...REQUEST, 'step/end'] },
  {
    at: 'before the first chunk',
    arrange: (world, cancel) => {
      world.model.replies.push((request) => {
        setImmediate(cancel);
        return hangs(request);
      });
    },
    says: [...REQUEST, 'step/end'],
  },
  {
    at: 'while the adapter ignores the abort',
    arrange: (world, cancel) => {
      world.model.replies.push(() => {
        setImmediate(cancel);
        return hangsForGood();
      });
    },
    says: [...REQUEST, 'step/end'],
  },
  {
    at: 'within a batch of chunks',
    arrange: (world, cancel) => {
      world.model.replies.push(() => says({ text: 'one two three' }));
      after('assistant/chunk', 3)(world, cancel);
    },
    says: [...REQUEST, 'assistant/chunk', 'assistant/message', 'step/end'],
    keeps: ['one two '],
  },
  {
    at: 'in mid-reasoning',
    arrange: midStream(...HALF.slice(0, 3)),
    says: [...REQUEST, 'assistant/chunk', 'assistant/message', 'step/end'],
    keeps: ['thinking it '],
  },
  {
    at: 'in mid-text',
    arrange: midStream(...HALF.slice(0, 8)),
    says: [...REQUEST, 'assistant/chunk', 'assistant/message', 'step/end'],
    keeps: ['thinking it over', 'so far '],
  },
  {
    at: 'in mid-tool-call',
    arrange: midStream(...HALF.slice(0, -2)),
    says: [...REQUEST, 'assistant/chunk', 'assistant/message', 'step/end'],
    keeps: ['thinking it over', 'so far so good'],
  },
  {
    at: 'in blank text',
    arrange: midStream(...chunksOf({ text: ' \n \n' }).slice(0, -1)),
    says: [...REQUEST, 'assistant/chunk', 'step/end'],
  },
  {
    at: 'while the consumer is behind',
    arrange: (world, cancel) => {
      const caughtUp = new Deferred<void>();
      world.model.replies.push((request) => hangs(request, ...HALF.slice(0, 3)));
      world.behind = (event) => {
        if (event.type !== 'assistant/chunk') return undefined;
        setImmediate(() => {
          cancel();
          world.behind = () => undefined;
        });
        return caughtUp.promise;
      };
      world.onStatus = (_, status) => {
        if (status === 'idle') caughtUp.resolve();
      };
    },
    says: [...REQUEST, 'assistant/chunk', 'assistant/message', 'step/end'],
    keeps: ['thinking it '],
  },
  {
    at: 'at the finish of an answer with tool calls',
    arrange: onTools(after('assistant/chunk', chunksOf({ calls: CALLS }).length)),
    says: [...REQUEST, ...TOOL_STEP, 'step/end'],
    runs: [],
  },
  {
    at: 'at the first tool/call',
    arrange: onTools(after('tool/call')),
    says: [...REQUEST, ...TOOL_STEP, 'step/end'],
    runs: [],
  },
  {
    at: 'in a tool body',
    arrange: onTools((world, cancel) => {
      world.tools.body = ({ callId }, signal) => {
        if (callId === 'c-1') return outcome('done');
        setImmediate(cancel);
        return untilAborted(signal);
      };
    }),
    says: [...REQUEST, ...TOOL_STEP, 'step/end'],
    runs: ['c-1', 'c-2'],
  },
  {
    at: 'between tools',
    arrange: onTools(after('tool/result')),
    says: [...REQUEST, ...TOOL_STEP, 'step/end'],
    runs: ['c-1'],
  },
  {
    at: 'between steps',
    arrange: onTools(after('step/end')),
    says: [...REQUEST, ...TOOL_STEP, 'step/end'],
    runs: ['c-1', 'c-2', 'c-3'],
  },
  {
    at: 'at the last step/end',
    arrange: after('step/end'),
    says: [...REQUEST, 'assistant/chunk', 'assistant/message', 'step/end'],
  },
  {
    at: 'at turn/end, which is too late',
    arrange: after('turn/end'),
    says: [...REQUEST, 'assistant/chunk', 'assistant/message', 'step/end'],
    ends: { kind: 'completed' },
  },
];

describe('cancel', () => {
  let world: AgentWorld;
  let agent: Agent;
  beforeEach(async () => {
    world = await AgentWorld.create();
    agent = await world.agent();
  });
  afterEach(() => world.close());

  for (const window of WINDOWS) {
    it(`${window.at} leaves a balanced log, an idle agent, and the next prompt running`, async () => {
      let cancelled = 0;
      window.arrange(world, () => {
        cancelled += 1;
        agent.cancel(USER);
      });
      await agent.followup(prompt('first', 'first'));
      await agent.whenIdle();
      expect(cancelled).to.equal(1);
      const first = 'ends' in window ? window.ends : ABORTED;
      expect(world.ends()).to.deep.equal(first === undefined ? [] : [first]);
      if (window.says !== undefined) {
        expect(world.outline().slice(4)).to.deep.equal([...window.says, 'turn/end', 'idle']);
      }
      const messages = world.events('assistant/message').filter((event) => event.data.interrupted === true);
      expect(messages.flatMap((event) => textsOf(event))).to.deep.equal(window.keeps ?? []);
      if (window.runs !== undefined) {
        expect(world.tools.started).to.deep.equal(window.runs);
        const results = world.events('tool/result');
        expect(results.map((event) => event.data.message.source.callId)).to.deep.equal(['c-1', 'c-2', 'c-3']);
        const unrun = results.slice(window.runs.length).map((event) => event.data.error?.code);
        expect(unrun).to.deep.equal(CALLS.slice(window.runs.length).map(() => 'ABORTED_BEFORE_DISPATCH'));
      }
      await world.ran(['second']);
      expect(world.ends().at(-1)).to.deep.equal({ kind: 'completed' });
      expect(readable(world.model.requests.at(-1)?.messages ?? []).at(-1)).to.match(/^(user: second|assistant: ok)$/);
      for (const { signal } of world.model.requests) expect(getEventListeners(signal, 'abort')).to.deep.equal([]);
    });
  }

  it('during prompt assembly ends the turn without a step', async () => {
    const own = await AgentWorld.create({
      modules: [
        defineModule({
          name: 'prompt',
          runtime: new ContainerModule(({ bind }) => {
            bind(SystemPrompt).toConstantValue({
              assemble: () => void own.registry.get('s')?.cancel(USER) as undefined,
            });
          }),
        }),
      ],
    });
    await own.ran(['hello']);
    expect(own.ends()).to.deep.equal([ABORTED]);
    expect(own.events('step/start')).to.deep.equal([]);
    await own.close();
  });

  it('while the log is being written ends the turn without the model', async () => {
    const written = new Deferred<void>();
    world.react = (event) => {
      if (event.type !== 'request/context') return;
      world.repository.beforeAppend = () => written.promise;
      setImmediate(() => agent.cancel(USER));
    };
    await agent.followup(prompt('hello'));
    await agent.whenIdle();
    expect(world.ends()).to.deep.equal([ABORTED]);
    expect(world.model.requests).to.deep.equal([]);
    written.resolve();
  });

  it('of an idle agent only clears the inbox, and is no event when there is nothing to clear', async () => {
    agent.cancel(USER);
    await agent.inject(prompt('notice'));
    agent.cancel(USER);
    expect(world.outline()).to.deep.equal(['agent/inbox/spliced', 'agent/inbox/spliced']);
    expect(world.events('agent/inbox/spliced')[1]?.data.outcome).to.equal('canceled');
    await world.ran(['hello']);
    expect(world.ends()).to.deep.equal([{ kind: 'completed' }]);
  });

  it('drops the queue; none of it runs', async () => {
    world.model.replies.push((request) => hangs(request));
    for (const id of ['a', 'b', 'c']) await agent.followup(prompt(id, id));
    await agent.inject(prompt('d', 'd'));
    agent.cancel(USER);
    await agent.whenIdle();
    expect(world.balance()).to.deep.include({ claimed: ['a'], cancelled: ['d', 'b', 'c'], ends: ['aborted'] });
  });

  it('with keepInbox goes on with the queue, not with what was claimed', async () => {
    world.model.replies.push((request) => hangs(request));
    for (const id of ['a', 'b']) await agent.followup(prompt(id, id));
    while (world.model.requests.length === 0) await nextTick();
    agent.cancel(USER, { keepInbox: true });
    await agent.whenIdle();
    expect(world.ends()).to.deep.equal([ABORTED, { kind: 'completed' }]);
    expect(world.outline().filter((name) => name === 'idle')).to.have.lengthOf(1);
    expect(world.balance().cancelled).to.deep.equal([]);
  });

  it('leaves a prompt of the abort window to a turn of its own, unless cancelled again', async () => {
    world.model.replies.push((request) => hangs(request));
    await agent.followup(prompt('a'));
    while (world.model.requests.length === 0) await nextTick();
    agent.cancel(USER);
    await agent.followup(prompt('dropped', 'dropped'));
    agent.cancel(USER);
    await agent.followup(prompt('kept', 'kept'));
    await agent.whenIdle();
    expect(world.ends()).to.deep.equal([ABORTED, { kind: 'completed' }]);
    expect(world.balance().cancelled).to.deep.equal(['dropped']);
  });

  it('keeps the first cause', async () => {
    world.model.replies.push((request) => hangs(request));
    await agent.followup(prompt('a'));
    while (world.model.requests.length === 0) await nextTick();
    agent.cancel({ kind: 'hook', reason: 'enough' });
    agent.cancel(USER);
    agent.cancel({ kind: 'disposed' });
    await agent.whenIdle();
    expect(world.ends()).to.deep.equal([{ kind: 'aborted', reason: { kind: 'hook', reason: 'enough' } }]);
  });

  it('with cause disposed ends the agent: nothing queued runs, nothing more is taken', async () => {
    world.model.replies.push((request) => hangs(request));
    for (const id of ['a', 'b']) await agent.followup(prompt(id, id));
    agent.cancel({ kind: 'disposed' }, { keepInbox: true });
    await agent.whenIdle();
    expect(world.ends()).to.deep.equal([{ kind: 'aborted', reason: { kind: 'disposed' } }]);
    const refused = await Promise.all(
      (['followup', 'steer', 'inject'] as const).map((verb) =>
        agent[verb](prompt('c')).catch((error: unknown) => error),
      ),
    );
    for (const error of refused) expect(error).to.have.property('code', 'AGENT_DISPOSED');
    expect(world.balance().pending).to.deep.equal(['b']);
  });

  it('returns the model stream that it leaves', async () => {
    const returned = new Deferred<void>();
    world.model.replies.push(async function* (request) {
      try {
        yield* hangs(request);
      } finally {
        returned.resolve();
      }
    });
    await agent.followup(prompt('a'));
    while (world.model.requests.length === 0) await nextTick();
    agent.cancel(USER);
    await agent.whenIdle();
    await returned.promise;
  });

  it('leaves no listener on the signals of a hundred turns (E9)', async () => {
    world.model.otherwise = () => says({ text: 'a b c' });
    await world.ran(Array.from({ length: 100 }, (_, index) => `p${index}`));
    const signals = new Set(world.model.requests.map((request) => request.signal));
    expect(signals.size).to.equal(100);
    for (const signal of signals) expect(getEventListeners(signal, 'abort')).to.deep.equal([]);
  });
});

function textsOf(event: SessionEvent): readonly string[] {
  if (event.type !== 'assistant/message') return [];
  return event.data.message.content.map((block) => ('text' in block ? block.text : block.type));
}
