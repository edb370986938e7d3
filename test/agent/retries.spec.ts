import { setImmediate as nextTick } from 'node:timers/promises';
import { expect } from 'chai';
import { DEFAULT_RETRY_POLICY } from '../../src/model/index.js';
import type { LlmFailure, StreamChunk } from '../../src/protocol/index.js';
import { AgentWorld, prompt, readable } from '../support/agent-world.js';
import { chunksOf, type Reply, says } from '../support/fake-model.js';

const QUICK = { ...DEFAULT_RETRY_POLICY, initialDelayMs: 1, maxDelayMs: 1, jitterRatio: 0 };

function breaks(failure: Partial<LlmFailure>, ...before: readonly StreamChunk[]): Reply {
  return async function* () {
    const whole = { message: 'down', code: 'SERVER', ...failure };
    yield [...before, { type: 'finish', reason: { kind: 'error', failure: whole } }];
  };
}

describe('a failed model call', () => {
  let world: AgentWorld;
  beforeEach(async () => {
    world = await AgentWorld.create();
    world.model.prepared = (config) => ({ config, retryPolicy: QUICK });
  });
  afterEach(() => world.close());

  it('is asked again in the same step; its chunks stay in the log and out of the answer (E2, H8)', async () => {
    const lost = chunksOf({ text: 'half an answer' }).slice(0, 3);
    world.model.replies.push(breaks({ status: 529 }, ...lost), () => says({ text: 'whole' }));
    await world.ran(['go']);
    expect(world.outline().slice(6)).to.deep.equal([
      'request/header',
      'request/context',
      'assistant/chunk',
      'llm/retry',
      'llm/retry-started',
      'assistant/chunk',
      'assistant/message',
      'step/end',
      'turn/end',
      'idle',
    ]);
    const [message] = world.events('assistant/message');
    const chunks = world.events('assistant/chunk').map(({ seq }) => seq);
    expect(message?.sourceEventSeqs).to.deep.equal(chunks.slice(lost.length + 1));
    expect(readable(message === undefined ? [] : [message.data.message])).to.deep.equal(['assistant: whole']);
    const [first, second] = world.model.requests;
    expect(second?.messages).to.deep.equal(first?.messages);
  });

  it('tells each retry before its wait and after it, by one id', async () => {
    world.model.replies.push(breaks({ requestId: 'r-1' }), breaks({}), () => says({ text: 'ok' }));
    await world.ran(['go']);
    const retries = world.events('llm/retry').map(({ data }) => data);
    expect(retries.map(({ retry, maxRetries, delayMs }) => [retry, maxRetries, delayMs])).to.deep.equal([
      [1, 5, 1],
      [2, 5, 1],
    ]);
    expect(retries[0]).to.deep.include({ turn: 1, step: 1, provider: 'fake', mode: 'normal' });
    expect(retries[0]?.failure).to.deep.equal({ message: 'down', code: 'SERVER', requestId: 'r-1' });
    const started = world.events('llm/retry-started').map(({ data }) => data);
    const { retryId } = retries[0] ?? { retryId: '' };
    expect(started).to.deep.equal([1, 2].map((retry) => ({ retryId, turn: 1, step: 1, retry })));
  });

  it('ends the turn with its last failure when the policy is spent, and the next prompt runs', async () => {
    world.model.replies.push(...Array.from({ length: 6 }, (_, at) => breaks({ status: 500, requestId: `r-${at}` })));
    await world.ran(['a', 'b']);
    const error = { message: 'down', code: 'SERVER', status: 500, requestId: 'r-5' };
    expect(world.ends()).to.deep.equal([{ kind: 'error', error }, { kind: 'completed' }]);
    expect(world.events('llm/retry')).to.have.lengthOf(5);
  });

  it('is counted anew in every step', async () => {
    const five = Array.from({ length: 5 }, () => breaks({}));
    world.model.replies.push(...five, () => says({ calls: [{ id: 'c', name: 'echo' }] }), ...five);
    await world.ran(['go']);
    expect(world.ends()).to.deep.equal([{ kind: 'completed' }]);
    expect(world.events('llm/retry').map(({ data }) => [data.step, data.retry])).to.deep.equal(
      [1, 2].flatMap((step) => [1, 2, 3, 4, 5].map((retry) => [step, retry])),
    );
  });

  it('is not asked again once the turn is cancelled in the wait', async () => {
    world.model.prepared = (config) => ({
      config,
      retryPolicy: { ...QUICK, initialDelayMs: 600_000, maxDelayMs: 600_000 },
    });
    world.model.replies.push(breaks({}));
    const agent = await world.agent();
    await agent.followup(prompt('go'));
    while (world.events('llm/retry').length === 0) await nextTick();
    agent.cancel({ kind: 'user' });
    await agent.whenIdle();
    expect(world.events('llm/retry-started')).to.deep.equal([]);
    expect(world.ends()).to.deep.equal([{ kind: 'aborted', reason: { kind: 'user' } }]);
    expect(world.model.requests).to.have.lengthOf(1);
  });

  for (const [what, answer] of [
    ['nothing', {}],
    ['reasoning only', { reasoning: 'hm' }],
  ] as const) {
    it(`an answer of ${what} is one, asked again once (E3)`, async () => {
      world.model.otherwise = () => says(answer);
      await world.ran(['go']);
      const [end] = world.ends();
      expect(end).to.have.nested.property('error.code', 'EMPTY_RESPONSE');
      expect(world.events('llm/retry')).to.have.lengthOf(1);
      expect(world.events('assistant/message')).to.deep.equal([]);
    });
  }

  it('asks with nothing but what the log says, retries and steering included', async () => {
    const agent = await world.agent();
    const logged: unknown[] = [];
    const replies = [breaks({}), () => says({ calls: [{ id: 'c', name: 'echo' }] }), breaks({})];
    world.react = (event) => {
      if (event.type === 'tool/call') void agent.steer(prompt('and this'));
    };
    world.model.otherwise = (request) => {
      logged.push({ messages: agent.session.messages(), header: agent.session.requestHeader });
      return replies.shift()?.(request) ?? says({ text: 'done' });
    };
    await world.ran(['go']);
    const asked = world.model.requests.map(({ messages, config, tools }) => ({ messages, header: { config, tools } }));
    expect(JSON.stringify(asked)).to.equal(JSON.stringify(logged));
    expect(asked).to.have.lengthOf(4);
    expect(readable(asked.at(-1)?.messages ?? []).at(-1)).to.equal('user: and this');
  });
});
