import { expect } from 'chai';
import { Scope } from '../../../src/kernel/index.js';
import { ContributedAdapterRegistry } from '../../../src/model/contributed-adapter-registry.js';
import { AdapterRegistry, ModelAdapter } from '../../../src/model/index.js';
import { modelModule } from '../../../src/model/model.module.js';
import { openAiCompatibleModule } from '../../../src/model/openai-compatible/openai-compatible.module.js';
import type { CallConfig, StreamChunk } from '../../../src/protocol/index.js';
import { withoutProxies } from '../../support/clean-environment.js';
import { DeepSeekServer, DONE, delta, eventsOf, sse } from '../../support/deepseek-server.js';
import { assistant, collect, finishOf, modelRequest, said, user } from '../../support/model-request.js';
import { TRANSCRIPTS } from './transcripts.js';

const KEY = 'DSH_TEST_LOCAL_KEY';

describe('llm-openai-compatible', () => {
  let server: DeepSeekServer;
  let scope: Scope;
  let restore: () => void;
  beforeEach(async () => {
    restore = withoutProxies();
    server = await DeepSeekServer.start();
    scope = Scope.root('test');
  });
  afterEach(async () => {
    await scope.close();
    await server.stop();
    delete process.env[KEY];
    restore();
  });

  /** The adapter of a row, with the least that a row must say. */
  async function adapterOf(config: object = {}): Promise<ModelAdapter> {
    const row = { provider: 'local', baseURL: `${server.url}/v1`, ...config };
    const { runtime } = await openAiCompatibleModule.configure(row);
    if (runtime !== undefined) await scope.load(runtime);
    return scope.all(ModelAdapter).at(-1) as ModelAdapter;
  }
  /** Calls of one adapter, their streams guarded. */
  async function caller(config: object = {}, route: Partial<CallConfig> = {}) {
    const call = new ContributedAdapterRegistry([await adapterOf(config)], []).prepare({
      provider: 'local',
      model: 'm',
      ...route,
    });
    return (request: Parameters<typeof modelRequest>[0] = {}) =>
      call.stream(modelRequest({ config: call.config, ...request }));
  }
  function toolCalls(chunks: readonly StreamChunk[]) {
    return chunks.flatMap((chunk) =>
      chunk.type === 'block-end' && chunk.block.type === 'tool-call' ? [chunk.block] : [],
    );
  }

  describe('request', () => {
    it('asks for no more than a plain server knows, without a key', async () => {
      server.answer({ text: 'hello' });
      expect(said(await collect((await caller())()))).to.equal('hello');
      const { path, headers, body } = await server.request(0);
      expect(path).to.equal('/v1/chat/completions');
      expect(headers).not.to.have.property('authorization');
      expect(body).to.deep.equal({
        model: 'm',
        stream: true,
        stream_options: { include_usage: true },
        messages: [{ role: 'user', content: 'hello' }],
      });
    });

    it('follows the quirks of its row', async () => {
      server.answer({ text: 'ok' });
      const next = await caller({
        streamUsage: false,
        maxTokensField: 'max_completion_tokens',
        defaultMaxTokens: 7,
        systemRole: 'developer',
        resendReasoning: 'with-tool-calls',
        resendReasoningAs: 'reasoning',
      });
      const call = { type: 'tool-call', id: 'c', name: 'f', arguments: '{}' } as const;
      const thought = { type: 'reasoning', text: 'hm' } as const;
      await collect(next({ system: 'S', messages: [user('go'), assistant(thought, 'a'), assistant(thought, call)] }));
      const { body } = await server.request(0);
      expect(body).to.deep.include({ max_completion_tokens: 7 });
      expect(body).not.to.have.any.keys('stream_options', 'max_tokens');
      expect(body.messages.slice(0, 4)).to.deep.equal([
        { role: 'developer', content: 'S' },
        { role: 'user', content: 'go' },
        { role: 'assistant', content: 'a' },
        {
          role: 'assistant',
          content: '',
          reasoning: 'hm',
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
      ]);
    });

    const efforts: readonly (readonly [config: object, effort: string, sent: object])[] = [
      [{ reasoningEffortValues: { low: 'low' } }, 'low', { reasoning_effort: 'low' }],
      [{ models: [{ id: 'm', reasoningEfforts: ['minimal'] }] }, 'minimal', { reasoning_effort: 'minimal' }],
      [
        { reasoningEffortField: 'reasoning.effort', reasoningEffortValues: { max: 'xhigh' } },
        'max',
        { reasoning: { effort: 'xhigh' } },
      ],
      [
        { reasoningEffortField: 'chat_template_kwargs.enable_thinking', reasoningEffortValues: { off: false } },
        'off',
        { chat_template_kwargs: { enable_thinking: false } },
      ],
    ];
    for (const [config, effort, sent] of efforts) {
      it(`asks for effort ${effort} as ${JSON.stringify(sent)}`, async () => {
        server.answer({ text: 'ok' });
        await collect((await caller(config, { reasoningEffort: effort }))());
        expect((await server.request(0)).body).to.deep.include(sent);
      });
    }

    it('knows no effort that its row does not name', async () => {
      const adapter = await adapterOf({ reasoningEffortValues: { low: 'low' } });
      const prepare = (reasoningEffort: string) => () =>
        adapter.prepare({ provider: 'local', model: 'm', reasoningEffort });
      expect(prepare('low')).not.to.throw();
      expect(prepare('constructor'))
        .to.throw('reasoning effort "constructor" is not supported, use one of: low')
        .with.property('code', 'UNSUPPORTED_REASONING_EFFORT');
      const plain = await adapterOf({ provider: 'plain' });
      expect(() => plain.prepare({ provider: 'plain', model: 'm', reasoningEffort: 'high' })).to.throw(
        'reasoning effort "high" is not supported, the model takes none',
      );
    });

    it('sends key and headers, and hides both in what it quotes', async () => {
      process.env[KEY] = 'sk-local';
      const next = await caller({
        apiKeyEnv: KEY,
        headers: { 'X-Gateway': 'gw-secret-1', 'User-Agent': 'mine', v: '1' },
      });
      server.answer({ status: 400, body: { error: { message: 'bad sk-local, gw-secret-1, 1' } } });
      expect(finishOf(await collect(next()))).to.have.nested.property(
        'failure.message',
        'bad [redacted], [redacted], 1',
      );
      const { headers } = await server.request(0);
      expect(headers).to.include({
        authorization: 'Bearer sk-local',
        'x-gateway': 'gw-secret-1',
        'user-agent': 'mine',
        v: '1',
        'content-type': 'application/json',
      });
    });

    it('says which variable the key is missing from', async () => {
      const reason = finishOf(await collect((await caller({ apiKeyEnv: KEY, name: 'My Server' }))()));
      expect(reason).to.have.deep.property('failure', {
        code: 'MISSING_CREDENTIAL',
        message: `no My Server API key: set the environment variable ${KEY}, or use the provider "offline"`,
      });
      expect(server.opened).to.equal(0);
    });
  });

  describe('stream', () => {
    for (const { server: kind, body, config, ...told } of TRANSCRIPTS) {
      it(`reads ${kind}`, async () => {
        server.answer({ raw: [body] });
        const chunks = await collect((await caller(config))());
        const made = toolCalls(chunks);
        const usage = chunks.flatMap((chunk) => (chunk.type === 'usage' ? [chunk.usage] : []));
        expect({
          reasoning: said(chunks, 'reasoning-delta'),
          text: said(chunks),
          calls: made.map((call) => [call.name, call.arguments]),
          usage,
          finish: finishOf(chunks),
        }).to.deep.equal({
          reasoning: told.reasoning ?? '',
          text: told.text ?? '',
          calls: told.calls ?? [],
          usage: told.usage === undefined ? [] : [told.usage],
          finish: { kind: told.finish },
        });
        const ids = made.map(({ id }) => id);
        if (told.ids !== undefined) expect(ids).to.deep.equal(told.ids);
        expect(new Set(ids).size).to.equal(ids.length);
        expect(ids).not.to.include('');
      });
    }

    it('reads the transcripts the same, cut at every byte', async () => {
      const next = await caller();
      for (const { body, config } of TRANSCRIPTS) {
        if (config !== undefined) continue;
        const withoutIds = (chunks: readonly StreamChunk[]): string =>
          JSON.stringify(chunks).replace(/call_[0-9a-f-]{36}/g, 'call');
        server.answer({ raw: [body] }, { raw: Array.from(Buffer.from(body), (byte) => Uint8Array.of(byte)) });
        const whole = withoutIds(await collect(next()));
        expect(withoutIds(await collect(next()))).to.equal(whole);
      }
    });

    it('lets a late id replace the invented one', async () => {
      server.answer({
        raw: [
          delta({ tool_calls: [{ index: 0, function: { name: 'f', arguments: '{' } }] }),
          delta({ tool_calls: [{ index: 0, id: 'late', function: { arguments: '}' } }] }, 'tool_calls'),
          DONE,
        ],
      });
      expect(toolCalls(await collect((await caller())()))[0]).to.include({ id: 'late', arguments: '{}' });
    });

    it('was cut when it ends without a finish reason (H3)', async () => {
      server.answer({ raw: [delta({ content: 'a' })] });
      expect(finishOf(await collect((await caller({ name: 'Box' }))()))).to.have.deep.property('failure', {
        code: 'STREAM_CLOSED',
        message: 'the Box API closed the stream before it was complete',
      });
    });

    it('was cut when it ends without the [DONE] that its row requires', async () => {
      server.answer({ raw: [delta({ content: 'a' }, 'stop')] });
      const chunks = await collect((await caller({ doneMarker: 'required' }))());
      expect(finishOf(chunks)).to.have.nested.property('failure.code', 'STREAM_CLOSED');
    });

    it('tells a cut connection from an end, after a finish reason too', async () => {
      server.answer({ raw: [delta({ content: 'a' }, 'stop')], ending: 'cut' });
      expect(finishOf(await collect((await caller())()))).to.have.nested.property('failure.code', 'TRANSPORT');
    });

    const errors: readonly (readonly [what: string, payload: object, failure: object])[] = [
      [
        'OpenRouter (H8)',
        {
          choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
          error: { code: 502, message: 'Provider disconnected' },
        },
        { code: 'SERVER', status: 502, message: 'Provider disconnected' },
      ],
      [
        'vLLM',
        { object: 'error', message: 'the prompt is too long', type: 'BadRequestError', code: 400 },
        { code: 'INVALID_REQUEST', status: 400, message: 'the prompt is too long' },
      ],
      ['a server of few words', { error: 'no such model' }, { code: 'SERVER', message: 'no such model' }],
    ];
    for (const [what, payload, failure] of errors) {
      it(`tells an error inside the stream of ${what}`, async () => {
        server.answer({ raw: [delta({ content: 'a' }), sse(payload)] });
        expect(finishOf(await collect((await caller())()))).to.deep.equal({ kind: 'error', failure });
      });
    }

    it('tells an error answer of vLLM', async () => {
      server.answer({ status: 404, body: { object: 'error', message: 'no model m', code: 404 } });
      expect(finishOf(await collect((await caller())()))).to.have.deep.property('failure', {
        code: 'HTTP_404',
        message: 'no model m',
        status: 404,
      });
    });

    it('names its server in what goes wrong', async () => {
      server.answer({ status: 500, body: '' }, { raw: [] });
      const next = await caller({ name: 'Box' });
      const message = async () => finishOf(await collect(next())) as { failure: { message: string } };
      expect((await message()).failure.message).to.equal('Box API error (HTTP 500)');
      expect((await message()).failure.message).to.equal('Box API returned no response body');
    });
  });

  describe('catalog', () => {
    const models = [{ id: 'a', name: 'A', contextWindow: 10, maxTokens: 5, inputModalities: ['text', 'image'] }];

    it('lists what the row does, and passes other models through', async () => {
      const adapter = await adapterOf({ models, name: 'Box' });
      expect(adapter.providers).to.deep.equal([{ id: 'local', name: 'Box', catalog: 'advisory' }]);
      expect(adapter.models('local')).to.deep.equal([{ ...models[0], reasoningEfforts: [] }]);
      const { config, adapterDefaults, contextWindow } = adapter.prepare({ provider: 'local', model: 'a' });
      expect({ config, adapterDefaults, contextWindow }).to.deep.equal({
        config: { provider: 'local', model: 'a', maxTokens: 5 },
        adapterDefaults: { maxTokens: true },
        contextWindow: 10,
      });
      const other = adapter.prepare({ provider: 'local', model: 'b', maxTokens: 3 });
      expect(other.config).to.deep.equal({ provider: 'local', model: 'b', maxTokens: 3 });
      expect(other).not.to.have.any.keys('contextWindow', 'retryPolicy');
      expect(other.adapterDefaults).to.deep.equal({});
    });

    it('refuses other models when it is closed', async () => {
      const adapter = await adapterOf({ models, catalog: 'closed' });
      expect(() => adapter.prepare({ provider: 'local', model: 'b' }))
        .to.throw('local serves no model "b"; it lists "a"')
        .with.property('code', 'UNKNOWN_MODEL');
      expect(adapter.prepare({ provider: 'local', model: 'a' }).contextWindow).to.equal(10);
    });

    it('knows no model outside of it to read images', async () => {
      const attachment = { attachmentId: 'sha256:a', mediaType: 'image/png', bytes: 1, width: 1, height: 1 } as const;
      const chunks = await collect((await caller({ models }))({ messages: [user({ type: 'image', attachment })] }));
      expect(finishOf(chunks)).to.have.deep.property('failure', {
        code: 'UNSUPPORTED_CONTENT',
        message: 'local model "m" does not accept image input.',
      });
    });

    it('takes the retry policy of its row', async () => {
      const adapter = await adapterOf({ retryPolicy: { mode: 'always' } });
      expect(adapter.prepare({ provider: 'local', model: 'm' }).retryPolicy).to.include({
        mode: 'always',
        maxRetries: 5,
      });
    });
  });

  it('stands in several rows, each with a provider of its own', async () => {
    const { runtime } = await modelModule.configure(undefined);
    if (runtime !== undefined) await scope.load(runtime);
    await adapterOf({ provider: 'one' });
    await adapterOf({ provider: 'two', name: 'Second' });
    const registry = scope.get(AdapterRegistry);
    expect(registry.providers().map(({ id, name }) => [id, name])).to.deep.equal([
      ['one', 'one'],
      ['two', 'Second'],
    ]);
    server.answer({ raw: eventsOf({ text: 'ok' }) });
    const call = registry.prepare({ provider: 'two', model: 'm' });
    expect(said(await collect(call.stream(modelRequest({ config: call.config }))))).to.equal('ok');
    expect(scope.pending).to.include.members(['one connections', 'Second connections']);
  });

  const wrong: readonly (readonly [config: object, message: RegExp])[] = [
    [{ provider: '' }, /provider/],
    [{ provider: undefined }, /provider/],
    [{ baseURL: undefined }, /baseURL must be an http or https URL/],
    [{ baseURL: 'localhost:11434' }, /baseURL must be an http or https URL/],
    [{ apiKeyEnv: 'sk-1' }, /apiKeyEnv must be the name of an environment variable/],
    [{ headers: [] }, /headers must be a mapping/],
    [{ headers: { 'a b': 'x' } }, /headers: "a b" is not the name of a header/],
    [{ headers: { a: 5 } }, /headers: a must be a string/],
    [{ headers: { a: 'x\r\nb: y' } }, /headers: a holds characters that no HTTP header can carry/],
    [{ headers: { 'Content-Length': '1' } }, /headers: Content-Length is set by the adapter/],
    [{ models: [{ id: 'a', reasoningEfforts: 'low' }] }, /models\[0\]: .*reasoningEfforts/],
    [{ models: [{ id: 'a' }, { id: 'a' }] }, /models must not name an id twice/],
    [{ catalog: 'open' }, /catalog/],
    [{ defaultMaxTokens: 0 }, /defaultMaxTokens must be a positive safe integer/],
    [{ maxTokensField: 'max' }, /maxTokensField/],
    [{ reasoningEffortField: 'a..b' }, /reasoningEffortField must be names with dots between them/],
    [{ reasoningEffortValues: 'low' }, /reasoningEffortValues/],
    [{ reasoningFields: [] }, /reasoningFields/],
    [{ reasoningFields: ['thoughts'] }, /reasoningFields/],
    [{ resendReasoning: 'maybe' }, /resendReasoning/],
    [{ resendReasoningAs: 'thoughts' }, /resendReasoningAs/],
    [{ streamUsage: 'yes' }, /streamUsage/],
    [{ doneMarker: true }, /doneMarker/],
    [{ systemRole: 'user' }, /systemRole/],
    [{ connectTimeoutMs: -1 }, /connectTimeoutMs/],
    [{ temperature: 1 }, /temperature/],
  ];
  for (const [config, message] of wrong) {
    it(`refuses ${JSON.stringify(config)}`, async () => {
      const error = await adapterOf(config).then(
        () => undefined,
        (thrown: Error) => thrown,
      );
      expect(error?.message).to.match(message);
      expect(error).to.have.property('code', 'INVALID_CONFIG');
    });
  }

  it('shows no header value in what it refuses', async () => {
    const error = await adapterOf({ headers: { a: 'gw-secret\n' } }).catch((thrown: Error) => thrown);
    expect(JSON.stringify(error) + String(error)).not.to.include('gw-secret');
  });
});
