import { expect } from 'chai';
import fc from 'fast-check';
import { spy } from 'sinon';
import { Deferred, packageInfo } from '../../../src/base/index.js';
import { DeepSeekAdapter } from '../../../src/model/deepseek/deepseek-adapter.js';
import { DeepSeekConfigDto } from '../../../src/model/deepseek/deepseek-config.js';
import { type DeepSeekServer, DONE, delta, eventsOf } from '../../support/deepseek-server.js';
import { assistant, collect, finishOf, said } from '../../support/model-request.js';
import { runs } from '../../support/runs.js';
import { KEY, ROUTE, useDeepSeek } from './deepseek-fixture.js';

describe('DeepSeekAdapter', () => {
  const deepseek = useDeepSeek();
  const { caller, call } = deepseek;
  let server: DeepSeekServer;
  beforeEach(() => {
    server = deepseek.server;
  });

  it('posts the prompt and streams the answer', async () => {
    server.answer({
      reasoning: 'hm',
      text: 'hello 🔥',
      chunkSize: 3,
      usage: { prompt_tokens: 4, completion_tokens: 2 },
    });
    const chunks = await collect(call());
    expect(said(chunks, 'reasoning-delta')).to.equal('hm');
    expect(said(chunks)).to.equal('hello 🔥');
    expect(chunks.slice(-2)).to.deep.equal([
      { type: 'usage', usage: { inputTokens: 4, outputTokens: 2 } },
      { type: 'finish', reason: { kind: 'stop' } },
    ]);
    const { method, path, body } = await server.request(0);
    expect([method, path]).to.deep.equal(['POST', '/chat/completions']);
    expect(body).to.deep.equal({
      model: 'deepseek-v4-flash',
      stream: true,
      stream_options: { include_usage: true },
      thinking: { type: 'enabled' },
      reasoning_effort: 'high',
      max_tokens: 256_000,
      messages: [{ role: 'user', content: 'hello' }],
    });
  });

  const efforts: readonly (readonly [config: Partial<DeepSeekConfigDto>, asked: string | undefined, sent: object])[] = [
    [{}, undefined, { thinking: { type: 'enabled' }, reasoning_effort: 'high' }],
    [{}, 'low', { thinking: { type: 'enabled' }, reasoning_effort: 'low' }],
    [{}, 'high', { thinking: { type: 'enabled' }, reasoning_effort: 'high' }],
    [{}, 'max', { thinking: { type: 'enabled' }, reasoning_effort: 'max' }],
    [{}, 'off', { thinking: { type: 'disabled' } }],
    [{ reasoningEffort: 'max' }, undefined, { thinking: { type: 'enabled' }, reasoning_effort: 'max' }],
    [{ reasoningEffort: 'off' }, undefined, { thinking: { type: 'disabled' } }],
    [
      { thinking: 'enabled', reasoningEffort: 'max' },
      'low',
      { thinking: { type: 'enabled' }, reasoning_effort: 'low' },
    ],
    [{ thinking: 'enabled' }, 'off', { thinking: { type: 'disabled' } }],
    [{ thinking: 'disabled' }, undefined, { thinking: { type: 'disabled' } }],
    [{ thinking: 'disabled' }, 'off', { thinking: { type: 'disabled' } }],
  ];
  for (const [config, asked, sent] of efforts) {
    it(`asks for effort ${asked} of a row with ${JSON.stringify(config)}`, async () => {
      server.answer({ text: 'ok' });
      const route = asked === undefined ? ROUTE : { ...ROUTE, reasoningEffort: asked };
      await collect(caller(config, route)());
      const { model, stream, stream_options, max_tokens, messages, ...rest } = (await server.request(0)).body;
      expect(rest).to.deep.equal(sent);
    });
  }

  it('sends reasoning back with the tool call it led to, an empty one if there was none (H4)', async () => {
    const call = { type: 'tool-call', id: 'c-1', name: 'f', arguments: '{}' } as const;
    const messages = [assistant({ type: 'reasoning', text: 'hm' }, call), assistant({ ...call, id: 'c-2' })];
    const sent = async (config: Partial<DeepSeekConfigDto>): Promise<unknown> => {
      server.answer({ text: 'ok' });
      await collect(caller(config)({ messages }));
      const { body } = server.requests.at(-1) ?? { body: {} };
      return body.messages.flatMap((message: { role: string; reasoning_content?: string }) =>
        message.role === 'assistant' ? [message.reasoning_content] : [],
      );
    };
    expect(await sent({})).to.deep.equal(['hm', '']);
    expect(await sent({ thinking: 'disabled' })).to.deep.equal(['hm', undefined]);
    expect(await sent({ resendReasoning: 'never' })).to.deep.equal([undefined, undefined]);
  });

  it('tells an overload inside a stream with the status it stands for (H8)', async () => {
    server.answer({ raw: [delta({ content: 'a' }), 'data: {"error":{"message":"Overloaded","code":529}}\n\n'] });
    const chunks = await collect(call());
    expect(said(chunks)).to.equal('a');
    const failure = { code: 'SERVER', message: 'Overloaded', status: 529 };
    expect(finishOf(chunks)).to.deep.equal({ kind: 'error', failure });
  });

  it('says who it is in its headers, and nothing of the session, whatever its id (J1)', async () => {
    for (const sessionId of ['plain', 'a\nb', 'nul\0', '会话', '🔥']) {
      server.answer({ text: 'ok' });
      expect(finishOf(await collect(call({}, { sessionId })))).to.deep.equal({ kind: 'stop' });
    }
    for (const { headers } of server.requests) {
      const { host: _, connection: _c, 'content-length': _l, ...rest } = headers;
      expect(rest).to.deep.equal({
        authorization: 'Bearer sk-test',
        'content-type': 'application/json',
        accept: 'text/event-stream',
        'accept-encoding': 'identity',
        'user-agent': `dsh-inversify/${packageInfo().version}`,
      });
    }
  });

  it('uses one connection for calls that follow each other', async () => {
    const next = caller();
    for (let at = 0; at < 3; at += 1) {
      server.answer({ text: `answer ${at}` });
      expect(said(await collect(next()))).to.equal(`answer ${at}`);
      await (await server.request(at)).closed;
    }
    expect(server.opened).to.equal(1);
  });

  it('runs calls beside each other', async () => {
    const held = new Deferred<void>();
    server.answer({ text: 'first', hold: held.promise });
    server.answer({ text: 'second' });
    const next = caller();
    const first = collect(next());
    await server.request(0);
    expect(said(await collect(next()))).to.equal('second');
    held.resolve();
    expect(said(await first)).to.equal('first');
  });

  it('hands on what arrived together as one batch', async () => {
    server.answer({ raw: [eventsOf({ text: 'x'.repeat(500), chunkSize: 1 }).join('')] });
    let batches = 0;
    let chunks = 0;
    for await (const batch of call()) {
      batches += 1;
      chunks += batch.length;
    }
    expect(chunks).to.be.greaterThan(500);
    expect(batches).to.be.lessThan(20);
  });

  it('reads every character of a stream that is cut anywhere (A1)', async () => {
    const bytes = Buffer.from(eventsOf({ reasoning: '台', text: '🔥größe', chunkSize: 1 }).join(''));
    const next = caller();
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: bytes.length }), { maxLength: 8 }), async (places) => {
        const ends = [...places.sort((a, b) => a - b), bytes.length];
        server.answer({ raw: ends.map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end)) });
        const chunks = await collect(next());
        expect(said(chunks, 'reasoning-delta')).to.equal('台');
        expect(said(chunks)).to.equal('🔥größe');
      }),
      runs(30),
    );
  });

  it('finishes at [DONE] although the response goes on, and closes its connection', async () => {
    server.answer({ text: 'ok', ending: 'stall' });
    expect(finishOf(await collect(call()))).to.deep.equal({ kind: 'stop' });
    expect(await (await server.request(0)).closed).to.deep.equal({ byClient: true });
  });

  it('reads an answer that is faster than its consumer', async () => {
    const text = 'x'.repeat(64 * 1024);
    server.answer({ raw: [...Array.from({ length: 64 }, () => delta({ content: text })), DONE] });
    let length = 0;
    for await (const batch of call()) {
      for (const chunk of batch) if (chunk.type === 'text-delta') length += chunk.text.length;
      await new Promise(setImmediate);
    }
    expect(length).to.equal(64 * text.length);
  });

  describe('warm()', () => {
    function adapter(baseURL: string): DeepSeekAdapter {
      return new DeepSeekAdapter(Object.assign(new DeepSeekConfigDto(), { baseURL }), deepseek.scope);
    }

    for (const [scheme, module] of [
      ['http', 'node:http'],
      ['https', 'node:https'],
    ] as const) {
      it(`loads ${module} for an ${scheme} endpoint, and calls nobody`, () => {
        const loads = spy(process, 'getBuiltinModule');
        adapter(server.url.replace('http', scheme)).warm();
        expect(loads.args.flat()).to.deep.equal([module]);
        expect(server.opened).to.equal(0);
      });
    }

    it('throws at a bad base URL, and the adapter still tells its calls why', async () => {
      const bad = adapter('localhost');
      expect(() => bad.warm())
        .to.throw('DeepSeek needs an http or https URL in the baseURL of its row')
        .with.property('code', 'INVALID_BASE_URL');
      expect(finishOf(await collect(call({ baseURL: 'localhost' })))).to.have.nested.property(
        'failure.code',
        'INVALID_BASE_URL',
      );
    });
  });

  describe('credentials and endpoint', () => {
    it('reads the key anew for each call, without the space around it', async () => {
      const next = caller();
      server.answer({ text: 'a' }, { text: 'b' });
      process.env[KEY] = '  sk-one\n';
      await collect(next());
      process.env[KEY] = 'sk-two';
      await collect(next());
      expect(server.requests.map(({ headers }) => headers.authorization)).to.deep.equal([
        'Bearer sk-one',
        'Bearer sk-two',
      ]);
    });

    for (const key of [undefined, '', ' \n']) {
      it(`says what to set when the key is ${JSON.stringify(key)}`, async () => {
        if (key === undefined) delete process.env[KEY];
        else process.env[KEY] = key;
        expect(finishOf(await collect(call()))).to.deep.equal({
          kind: 'error',
          failure: {
            code: 'MISSING_CREDENTIAL',
            message: `no DeepSeek API key: set the environment variable ${KEY}, or use the provider "offline"`,
          },
        });
        expect(server.opened).to.equal(0);
      });
    }

    for (const key of ['sk-a\nb', 'sk-台', 'sk-\u00e9']) {
      it(`refuses a key that no header can carry, without showing it: ${JSON.stringify(key)}`, async () => {
        process.env[KEY] = key;
        const reason = finishOf(await collect(call()));
        expect(reason).to.have.nested.property('failure.code', 'INVALID_CREDENTIAL');
        expect(JSON.stringify(reason)).not.to.include('sk-');
        expect(server.opened).to.equal(0);
      });
    }

    it('takes the endpoint from the config, then from the environment', async () => {
      server.answer({ text: 'a' }, { text: 'b' });
      process.env.DEEPSEEK_BASE_URL = 'http://127.0.0.1:1';
      await collect(call({ baseURL: `${server.url}/config/` }));
      process.env.DEEPSEEK_BASE_URL = `${server.url}/env`;
      await collect(call({ baseURL: undefined as never }));
      expect(server.requests.map(({ path }) => path)).to.deep.equal([
        '/config/chat/completions',
        '/env/chat/completions',
      ]);
    });

    it('names the variable of an endpoint that is no URL', async () => {
      process.env.DEEPSEEK_BASE_URL = 'localhost';
      const reason = finishOf(await collect(call({ baseURL: undefined as never })));
      expect(reason).to.have.nested.property(
        'failure.message',
        'DeepSeek needs an http or https URL in the environment variable DEEPSEEK_BASE_URL',
      );
    });
  });
});
