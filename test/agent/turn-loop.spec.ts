import { expect } from 'chai';
import { ContainerModule } from 'inversify';
import { PromptSection, SystemPrompt } from '../../src/agent/index.js';
import { defineModule } from '../../src/kernel/index.js';
import type { StreamChunk } from '../../src/protocol/index.js';
import { AgentWorld, prompt, readable } from '../support/agent-world.js';
import { chunksOf, fails, hangs, says } from '../support/fake-model.js';
import { outcome } from '../support/fake-tools.js';

const CALL = { id: 'c-1', name: 'echo', arguments: '{"text":"hi"}' };

describe('turn loop', () => {
  let world: AgentWorld;
  beforeEach(async () => {
    world = await AgentWorld.create();
  });
  afterEach(() => world.close());

  it('says a text turn in the order of the protocol', async () => {
    await world.ran(['hello']);
    expect(world.outline()).to.deep.equal([
      'agent/inbox/spliced',
      'running',
      'turn/start',
      'agent/inbox/spliced',
      'step/start',
      'user/message',
      'request/header',
      'request/context',
      'assistant/chunk',
      'assistant/message',
      'step/end',
      'turn/end',
      'idle',
    ]);
    expect(world.ends()).to.deep.equal([{ kind: 'completed' }]);
    const [inserted, claimed] = world.events('agent/inbox/spliced');
    expect(inserted?.data).to.have.all.keys('target', 'start', 'inserted');
    expect(claimed?.data).to.deep.equal({ target: 'next-turn', start: 0, removedCount: 1, inserted: [] });
  });

  it('has begun the turn of an idle agent when followup is called', async () => {
    const agent = await world.agent();
    const receipt = agent.followup(prompt('hello'));
    expect(agent.status).to.equal('running');
    expect(world.outline().slice(0, 4)).to.deep.equal([
      'agent/inbox/spliced',
      'running',
      'turn/start',
      'agent/inbox/spliced',
    ]);
    await receipt;
    await agent.whenIdle();
    expect(agent.status).to.equal('idle');
  });

  it('runs a tool round trip in two steps, the second seeing the result', async () => {
    world.model.replies.push(() => says({ reasoning: 'look', calls: [CALL] }));
    await world.ran(['hello']);
    expect(world.outline().slice(8)).to.deep.equal([
      'assistant/chunk',
      'assistant/message',
      'tool/call',
      'tool/result',
      'step/end',
      'step/start',
      'assistant/chunk',
      'assistant/message',
      'step/end',
      'turn/end',
      'idle',
    ]);
    expect(readable(world.model.requests[1]?.messages ?? [])).to.deep.equal([
      'user: hello',
      'assistant: look',
      'call c-1',
      'result c-1',
    ]);
    expect(world.events('tool/call')[0]?.data).to.deep.equal({
      turn: 1,
      step: 1,
      callId: 'c-1',
      name: 'echo',
      arguments: CALL.arguments,
    });
    const { message } = world.events('tool/result')[0]?.data ?? {};
    expect(message).to.deep.include({
      role: 'user',
      source: { kind: 'tool', callId: 'c-1' },
      content: [{ type: 'tool-result', toolCallId: 'c-1', ...outcome(CALL.arguments) }],
    });
  });

  it('runs the calls of one answer in its order, whatever the finish reason says', async () => {
    const calls = ['a', 'b', 'c'].map((id) => ({ id, name: 'echo' }));
    world.model.replies.push(() => says({ calls, finish: { kind: 'stop' } }));
    await world.ran(['hello']);
    expect(world.tools.started).to.deep.equal(['a', 'b', 'c']);
    expect(world.model.requests).to.have.lengthOf(2);
  });

  it('logs a coded tool failure and goes on', async () => {
    const error = { name: 'UnknownToolError', code: 'UNKNOWN_TOOL' };
    world.tools.body = () => ({ ...outcome('Error: unknown tool "echo"', true), error });
    world.model.replies.push(() => says({ calls: [CALL] }));
    await world.ran(['hello']);
    expect(world.events('tool/result')[0]?.data.error).to.deep.equal(error);
    expect(world.ends()).to.deep.equal([{ kind: 'completed' }]);
  });

  it('gives a burst of prompts a turn each, in order, without idle between', async () => {
    const agent = await world.agent();
    const texts = Array.from({ length: 20 }, (_, index) => `p${index}`);
    await Promise.all(texts.map((text) => agent.followup(prompt(text))));
    await agent.whenIdle();
    expect(world.events('turn/start').map((event) => event.data.turn)).to.deep.equal(
      texts.map((_, index) => index + 1),
    );
    expect(world.events('user/message').map((event) => readable([event.data])[0])).to.deep.equal(
      texts.map((text) => `user: ${text}`),
    );
    expect(world.outline().filter((name) => name === 'running' || name === 'idle')).to.deep.equal(['running', 'idle']);
  });

  it('runs prompts that come while, between and after turns', async () => {
    const agent = await world.ran(['a']);
    const both = [agent.followup(prompt('b')), agent.followup(prompt('c'))];
    await both[0];
    await agent.followup(prompt('d'));
    await agent.whenIdle();
    await world.ran(['e']);
    expect(readable(world.events('user/message').map((event) => event.data))).to.deep.equal(
      ['a', 'b', 'c', 'd', 'e'].map((text) => `user: ${text}`),
    );
    expect(world.ends()).to.have.lengthOf(5);
  });

  it('starts a prompt that is sent while idle is being told, after everybody heard the idle', async () => {
    const agent = await world.agent();
    world.onStatus = (_, status) => {
      if (status === 'idle' && world.ends().length === 1) void agent.followup(prompt('again'));
    };
    await world.ran(['first']);
    expect(world.ends()).to.have.lengthOf(2);
    expect(world.outline().filter((name) => name === 'running' || name === 'idle')).to.deep.equal([
      'running',
      'idle',
      'running',
      'idle',
    ]);
  });

  it('is not disturbed by listeners and participants that throw', async () => {
    world.onStatus = () => {
      throw new Error('status');
    };
    world.behind = () => {
      throw new Error('event');
    };
    world.react = () => {
      throw new Error('participant');
    };
    world.model.replies.push(() => says({ calls: [CALL] }));
    await world.ran(['a', 'b']);
    expect(world.ends()).to.deep.equal([{ kind: 'completed' }, { kind: 'completed' }]);
  });

  it('assembles blocks in index order, with usage and replay state, citing its chunks', async () => {
    const interleaved: StreamChunk[] = [
      { type: 'block-start', index: 1, blockType: 'text' },
      { type: 'block-start', index: 0, blockType: 'reasoning' },
      { type: 'text-delta', index: 1, text: 'b' },
      { type: 'reasoning-delta', index: 0, text: 'a' },
      { type: 'block-end', index: 1, block: { type: 'text', text: 'b' } },
      { type: 'block-end', index: 0, block: { type: 'reasoning', text: 'a' } },
      { type: 'usage', usage: { inputTokens: 3, outputTokens: 2 } },
      { type: 'finish', reason: { kind: 'stop' }, replayState: { response: 'r-1' } },
    ];
    world.model.replies.push(async function* () {
      yield interleaved.slice(0, 3);
      yield interleaved.slice(3);
    });
    await world.ran(['hello']);
    const [message] = world.events('assistant/message');
    expect(message?.data).to.deep.include({ turn: 1, step: 1, usage: { inputTokens: 3, outputTokens: 2 } });
    expect(message?.data.message.content).to.deep.equal([
      { type: 'reasoning', text: 'a' },
      { type: 'text', text: 'b' },
    ]);
    expect(message?.data.message.source).to.deep.equal({
      kind: 'model',
      provider: 'fake',
      model: 'm-1',
      replayState: { response: 'r-1' },
    });
    expect(message?.sourceEventSeqs).to.deep.equal(world.events('assistant/chunk').map((event) => event.seq));
    expect(world.events('assistant/chunk').map((event) => event.data.chunk)).to.deep.equal(interleaved);
  });

  for (const usage of [undefined, { inputTokens: 1, outputTokens: 0 }]) {
    it(`writes an empty answer ${usage === undefined ? 'without' : 'with'} usage, which the history skips`, async () => {
      const finish = { kind: 'max-tokens' } as const;
      world.model.replies.push(() => says({ finish, ...(usage !== undefined && { usage }) }));
      await world.ran(['a', 'b']);
      const [empty] = world.events('assistant/message');
      expect(empty?.data.message.content).to.deep.equal([]);
      expect(empty?.data.usage).to.deep.equal(usage);
      expect(readable(world.model.requests[1]?.messages ?? [])).to.deep.equal(['user: a', 'user: b']);
    });
  }

  describe('at the output cap', () => {
    const cut = { text: 'so', calls: [CALL], finish: { kind: 'max-tokens' } } as const;

    it('drops tool calls, runs none and ends with max-tokens, this turn only', async () => {
      world.model.replies.push(() => says(cut));
      await world.ran(['a', 'b']);
      expect(world.tools.started).to.deep.equal([]);
      expect(world.events('assistant/message')[0]?.data.message.content).to.deep.equal([{ type: 'text', text: 'so' }]);
      expect(world.ends()).to.deep.equal([{ kind: 'max-tokens' }, { kind: 'completed' }]);
    });

    it('stays the reason when a steer continues the turn, tools and all', async () => {
      world.model.replies.push(
        () => says(cut),
        () => says({ calls: [CALL] }),
      );
      const agent = await world.agent();
      world.react = (event) => {
        if (event.type === 'assistant/message' && event.data.step === 1) void agent.steer(prompt('go on'));
      };
      await world.ran(['a']);
      expect(world.events('step/start')).to.have.lengthOf(3);
      expect(world.ends()).to.deep.equal([{ kind: 'max-tokens' }]);
    });
  });

  describe('when something fails', () => {
    const failure = { code: 'QUOTA', message: 'slow down', status: 429, providerRetryAfterMs: 1_000 };
    const queued = ['user: a', 'user: b'];

    it('ends the turn with the failure of the model call; the next prompt runs without the failed text', async () => {
      world.model.replies.push(() => says({ text: 'half', finish: { kind: 'error', failure } }));
      const agent = await world.agent();
      await Promise.all([agent.followup(prompt('a')), agent.followup(prompt('b'))]);
      await agent.whenIdle();
      expect(world.outline().slice(9, 14)).to.deep.equal([
        'assistant/chunk',
        'step/end',
        'turn/end',
        'turn/start',
        'agent/inbox/spliced',
      ]);
      expect(world.ends()).to.deep.equal([{ kind: 'error', error: failure }, { kind: 'completed' }]);
      expect(readable(world.model.requests[1]?.messages ?? [])).to.deep.equal(queued);
    });

    it('takes an abort that nobody asked for as a failure', async () => {
      const aborted = { code: 'ABORTED', message: 'gone' };
      world.model.replies.push(() => says({ text: 'half', finish: { kind: 'aborted', failure: aborted } }));
      await world.ran(['a']);
      expect(world.ends()).to.deep.equal([{ kind: 'error', error: aborted }]);
      expect(world.events('assistant/message')).to.deep.equal([]);
    });

    it('refuses a route without a model, and keeps going', async () => {
      const agent = await world.agent('s', { provider: 'fake', model: '' });
      await Promise.all([agent.followup(prompt('a')), agent.followup(prompt('b'))]);
      await agent.whenIdle();
      const error = { code: 'UNKNOWN', message: 'agent "s" has no provider/model' };
      expect(world.ends()).to.deep.equal([
        { kind: 'error', error },
        { kind: 'error', error },
      ]);
      expect(world.events('request/header')).to.deep.equal([]);
    });

    it('names a provider that nobody serves', async () => {
      const agent = await world.agent('s', { provider: 'nobody', model: 'm' });
      await agent.followup(prompt('a'));
      await agent.whenIdle();
      const error = { code: 'NO_ADAPTER', message: 'no adapter registered for provider "nobody"' };
      expect(world.ends()).to.deep.equal([{ kind: 'error', error }]);
    });

    it('ends the turn when the tool executor breaks its contract, every call answered (G8)', async () => {
      world.tools.body = () => {
        throw new Error('the executor broke', { cause: new Error('a bug') });
      };
      world.model.replies.push(() => says({ calls: [CALL, { ...CALL, id: 'c-2' }] }));
      await world.ran(['a', 'b']);
      const error = { code: 'UNKNOWN', message: 'the executor broke: a bug' };
      expect(world.ends()).to.deep.equal([{ kind: 'error', error }, { kind: 'completed' }]);
      expect(world.tools.started).to.deep.equal(['c-1']);
      expect(readable(world.model.requests[1]?.messages ?? [])).to.deep.equal([
        'user: a',
        'call c-1',
        'call c-2',
        'result c-1',
        'result c-2',
        'user: b',
      ]);
    });
  });
});

describe('turn loop whose session was closed', () => {
  it('goes idle, says so in the diagnostics, and takes no prompt', async () => {
    const world = await AgentWorld.create();
    world.model.replies.push((request) => hangs(request));
    const agent = await world.agent();
    await agent.followup(prompt('a'));
    await agent.session.close();
    agent.cancel({ kind: 'user' });
    await agent.whenIdle();
    expect(agent.status).to.equal('idle');
    expect(world.errors).to.deep.equal(['a turn could not be logged']);
    const refused = await agent.followup(prompt('b')).catch((error: unknown) => error);
    expect(refused).to.have.property('code', 'SESSION_CLOSED');
    await world.scope.close();
  });
});

describe('turn loop with real tools', () => {
  it('answers calls with empty, invalid and unfitting arguments, and of unknown tools, and goes on', async () => {
    const seen: unknown[] = [];
    const world = await AgentWorld.create({
      realTools: [
        {
          name: 'echo',
          description: 'Says it again.',
          parameters: { type: 'object', properties: { text: { type: 'string' } } },
          execute: (args) => {
            seen.push(args);
            return 'done';
          },
        },
      ],
    });
    const calls = [
      { id: 'empty', name: 'echo', arguments: '' },
      { id: 'whole', name: 'echo', arguments: '{"text":"hi"}' },
      { id: 'torn', name: 'echo', arguments: '{"text":' },
      { id: 'wrong', name: 'echo', arguments: '{"text":7}' },
      { id: 'unknown', name: 'nope', arguments: '{}' },
    ];
    world.model.replies.push(() => says({ calls }));
    await world.ran(['go']);
    expect(seen).to.deep.equal([{}, { text: 'hi' }]);
    expect(world.events('tool/call').map((event) => event.data.arguments)).to.deep.equal(
      calls.map((call) => call.arguments),
    );
    expect(world.events('tool/result').map((event) => event.data.error?.code)).to.deep.equal([
      undefined,
      undefined,
      'INVALID_ARGS',
      'INVALID_ARGS',
      'UNKNOWN_TOOL',
    ]);
    expect(world.ends()).to.deep.equal([{ kind: 'completed' }]);
    await world.close();
  });
});

describe('request records', () => {
  it('logs the request as the adapter completed it, and again only when it changed', async () => {
    const world = await AgentWorld.create();
    world.model.prepared = (config) => ({
      config: { ...config, reasoningEffort: 'high', maxTokens: 64 },
      adapterDefaults: { reasoningEffort: true, maxTokens: true },
      contextWindow: 1_000,
    });
    await world.ran(['a', 'b']);
    world.model.prepared = (config) => ({ config, adapterDefaults: {}, contextWindow: 1_000 });
    world.tools.definitions = [];
    await world.ran(['c', 'd']);
    world.model.prepared = (config) => ({ config });
    await world.ran(['e']);

    const [initial, change, ...more] = world.events('request/header').map((event) => event.data);
    expect(initial).to.deep.equal({
      reason: 'initial',
      header: {
        config: { provider: 'fake', model: 'm-1', reasoningEffort: 'high', maxTokens: 64 },
        adapterDefaults: { reasoningEffort: true, maxTokens: true },
        tools: [{ name: 'echo', description: 'Says it again.', parameters: { type: 'object' } }],
      },
    });
    expect(change).to.deep.equal({ reason: 'change', header: { config: { provider: 'fake', model: 'm-1' } } });
    expect(more).to.deep.equal([]);
    expect(world.events('request/context').map((event) => event.data)).to.deep.equal([
      { provider: 'fake', model: 'm-1', contextWindow: 1_000 },
      { provider: 'fake', model: 'm-1' },
    ]);
    await world.close();
  });

  it('asks for nothing but what the log says', async () => {
    const world = await AgentWorld.create();
    const { session } = await world.agent();
    const logged: unknown[] = [];
    const replies = [
      () => says({ text: 'x', calls: [CALL] }),
      () => says({ text: 'y' }),
      () => fails('AUTH', 'down', ...chunksOf({ text: 'lost' }).slice(0, 2)),
    ];
    world.model.otherwise = (request) => {
      logged.push({ messages: session.messages(), header: session.requestHeader });
      return replies.shift()?.() ?? says({ text: request.sessionId });
    };
    await world.ran(['a', 'b', 'c']);
    expect(logged).to.deep.equal(
      world.model.requests.map(({ messages, config, tools }) => ({ messages, header: { config, tools } })),
    );
    expect(logged).to.have.lengthOf(4);
    await world.close();
  });
});

describe('system prompt of a turn', () => {
  const withPrompt = (assemble: SystemPrompt['assemble']) =>
    AgentWorld.create({
      modules: [
        defineModule({
          name: 'prompt',
          runtime: new ContainerModule(({ bind }) => {
            bind(SystemPrompt).toConstantValue({ assemble });
            bind(PromptSection).toConstantValue({ name: 'runtime', order: 1, text: 'r' });
          }),
          session: new ContainerModule(({ bind }) => {
            bind(PromptSection).toConstantValue({ name: 'session', order: 2, text: 's' });
          }),
        }),
      ],
    });

  it('is assembled from the sections of session and runtime, and sent and logged', async () => {
    const world = await withPrompt((sections, variables) =>
      JSON.stringify([sections.map(({ name }) => name), variables]),
    );
    await world.ran(['a']);
    const system = '[["session","runtime"],{"provider":"fake","model":"m-1","cwd":"/ws"}]';
    expect(world.model.requests[0]?.system).to.equal(system);
    expect(world.events('request/header')[0]?.data.header.system).to.equal(system);
    await world.close();
  });

  it('fails the turn before its step, with the messages of all causes; the queue runs on', async () => {
    let broken = true;
    const world = await withPrompt(() => {
      if (!broken) return undefined;
      broken = false;
      throw new Error('no prompt', { cause: new Error('bad section') });
    });
    const agent = await world.agent();
    await Promise.all([agent.followup(prompt('a')), agent.followup(prompt('b'))]);
    await agent.whenIdle();
    const error = { code: 'UNKNOWN', message: 'no prompt: bad section' };
    expect(world.ends()).to.deep.equal([{ kind: 'error', error }, { kind: 'completed' }]);
    expect(world.events('step/start')).to.have.lengthOf(1);
    await world.close();
  });
});
