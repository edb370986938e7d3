import { expect } from 'chai';
import * as fc from 'fast-check';
import { Scope } from '../../src/kernel/index.js';
import { DeepSeekAdapter } from '../../src/model/deepseek/deepseek-adapter.js';
import { DeepSeekConfigDto } from '../../src/model/deepseek/deepseek-config.js';
import type { ModelRequest } from '../../src/model/index.js';
import { isEvent, type SessionEvent, type ToolDefinition } from '../../src/protocol/index.js';
import { SessionFold } from '../../src/session/session-fold.js';
import { AgentWorld, prompt } from '../support/agent-world.js';
import { DeepSeekServer } from '../support/deepseek-server.js';
import { chunksOf, fails, hangs, says } from '../support/fake-model.js';
import { FakeRepository } from '../support/fake-repository.js';
import { outcome } from '../support/fake-tools.js';
import { Lab } from '../support/lab.js';
import { collect } from '../support/model-request.js';
import { runs } from '../support/runs.js';

/** What a request says, by what the log says up to an event. */
function rebuilt(
  events: readonly SessionEvent[],
  nextSeq: number,
): Pick<ModelRequest, 'config' | 'system' | 'messages' | 'tools'> {
  const fold = new SessionFold();
  for (const event of events.slice(0, nextSeq)) fold.read(event);
  const { config, system, tools } = fold.requestHeader ?? {};
  if (config === undefined) throw new Error('there is no request header yet');
  return {
    config,
    messages: fold.messages(),
    ...(system !== undefined && { system }),
    ...(tools !== undefined && { tools }),
  };
}

function textOf({
  config,
  system,
  messages,
  tools,
}: Pick<ModelRequest, 'config' | 'system' | 'messages' | 'tools'>): string {
  return JSON.stringify({ config, system, messages, tools });
}

interface Life {
  /** How many tools there are, by turn. */
  readonly tools: readonly number[];
  readonly steps: readonly ('prompt' | 'steer' | 'cancel')[];
  readonly answers: readonly ('text' | 'reasoning' | 'calls' | 'fails once' | 'cut' | 'hangs')[];
}

const life: fc.Arbitrary<Life> = fc.record({
  tools: fc.array(fc.nat(3), { minLength: 1, maxLength: 4 }),
  steps: fc.array(fc.constantFrom('prompt', 'prompt', 'steer', 'cancel'), { minLength: 1, maxLength: 6 }),
  answers: fc.array(fc.constantFrom('text', 'reasoning', 'calls', 'fails once', 'cut', 'hangs'), { maxLength: 8 }),
});

function definitions(count: number): readonly ToolDefinition[] {
  return Array.from({ length: count }, (_, index) => ({
    name: index === 0 ? 'echo' : `echo-${index}`,
    description: `Number ${index}`,
    parameters: { type: 'object' },
  }));
}

/** One runtime's life of the session. @returns what was asked, and after how many events */
async function live(repository: FakeRepository, { tools, steps, answers }: Life): Promise<[number, string][]> {
  const world = await AgentWorld.create({ repository });
  const asked: [number, string][] = [];
  const todo = [...answers];
  const agent = await world.agent();
  world.tools.definitions = definitions(tools[0] ?? 0);
  world.tools.body = ({ callId }) => outcome(`result of ${callId}`, callId.endsWith('b'));
  world.model.otherwise = (request) => {
    asked.push([agent.session.nextSeq, textOf(request)]);
    const ids = ['a', 'b'].map((id) => ({ id: `${asked.length}${id}`, name: 'echo', arguments: '{}' }));
    switch (todo.shift()) {
      case 'calls':
        return says({ text: 'now', calls: ids });
      case 'reasoning':
        return says({ reasoning: 'hm', text: 'done' });
      case 'fails once':
        return fails('OVERLOADED', 'later', ...chunksOf({ text: 'half' }).slice(0, 2));
      case 'cut':
        return says({ text: 'too long', finish: { kind: 'max-tokens' } });
      case 'hangs':
        return hangs(request, ...chunksOf({ text: 'half of it' }).slice(0, 3));
      default:
        return says({ text: 'ok' });
    }
  };
  world.model.prepared = (config) => ({
    config,
    retryPolicy: {
      mode: 'normal',
      maxRetries: 3,
      codes: ['OVERLOADED'],
      initialDelayMs: 0,
      maxDelayMs: 0,
      jitterRatio: 0,
      overloadBudgetMs: 1_000,
    },
  });
  for (const [index, step] of steps.entries()) {
    world.tools.definitions = definitions(tools[index % tools.length] ?? 0);
    if (step === 'cancel') agent.cancel({ kind: 'user' });
    else if (step === 'steer') await agent.steer(prompt(`steer ${index}`));
    else await agent.followup(prompt(`prompt ${index}`));
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  while (agent.isBusy) {
    await new Promise<void>((resolve) => setImmediate(resolve));
    agent.cancel({ kind: 'user' });
    await agent.whenIdle();
  }
  await world.scope.close();
  return asked;
}

describe('a model request', () => {
  it('is what the log says, to the byte, through tools, retries, cancels, steering and resume', async function () {
    this.timeout(60_000);
    await fc.assert(
      fc.asyncProperty(fc.array(life, { minLength: 1, maxLength: 3 }), async (lives) => {
        const repository = new FakeRepository();
        const asked: [number, string][] = [];
        for (const one of lives) asked.push(...(await live(repository, one)));
        const lines = repository.stored.get('s')?.lines ?? [];
        const events = lines.map(({ json }) => JSON.parse(json) as SessionEvent);
        for (const [nextSeq, text] of asked) expect(textOf(rebuilt(events, nextSeq))).to.equal(text);
      }),
      runs(120),
    );
  });

  it('on the wire is what an adapter makes of the log on disk, packed or not', async () => {
    const call = { toolCalls: [{ name: 'bash', arguments: { command: 'echo "é 🔥"' } }], reasoning: 'look' };
    const lab = await Lab.open(call, { text: 'first' }, { text: 'second' }, call, { text: 'third' });
    const other = await DeepSeekServer.start(...Array.from({ length: 5 }, () => ({ text: 'x' })));
    const scope = Scope.root('test');
    try {
      for (const prompts of [['one', 'two'], ['three']]) {
        const harness = lab.harness();
        for (const text of prompts) expect((await harness.run(text, { sessionId: 's' })).outcome).to.equal('completed');
        await harness.close();
      }
      const events = await lab.storedEvents();
      const starts = events.flatMap((event, index) => {
        const before = events[index - 1];
        return isEvent(event, 'assistant/chunk') && before?.type !== 'assistant/chunk' ? [event.seq] : [];
      });
      expect(starts).to.have.lengthOf(5);
      const env = { DEEPSEEK_API_KEY: 'sk-test-key', DEEPSEEK_BASE_URL: other.url };
      const adapter = new DeepSeekAdapter(new DeepSeekConfigDto(), scope, undefined, env);
      for (const seq of starts) {
        const request = { ...rebuilt(events, seq), sessionId: 's', signal: new AbortController().signal };
        await collect(adapter.prepare(request.config).stream(request));
      }
      expect(other.requests.map(({ body }) => JSON.stringify(body))).to.deep.equal(
        lab.server.requests.map(({ body }) => JSON.stringify(body)),
      );
    } finally {
      await scope.close();
      await other.stop();
      await lab.close();
    }
  });
});
