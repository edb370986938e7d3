import { expect } from 'chai';
import { CodedError } from '../../src/base/index.js';
import { ContributedAdapterRegistry } from '../../src/model/contributed-adapter-registry.js';
import type { DefaultAdapter } from '../../src/model/default-adapter.js';
import { LlmError, type ModelAdapter, type ModelRequest } from '../../src/model/index.js';
import type { ImageBlock, StreamChunk } from '../../src/protocol/index.js';
import { assistant, collect, finishOf, modelRequest, toolResult, user } from '../support/model-request.js';

type Stream = (request: ModelRequest) => AsyncIterable<readonly StreamChunk[]>;

const HELLO: readonly StreamChunk[] = [
  { type: 'block-start', index: 0, blockType: 'text' },
  { type: 'text-delta', index: 0, text: 'hello' },
];
const END: readonly StreamChunk[] = [
  { type: 'block-end', index: 0, block: { type: 'text', text: 'hello' } },
  { type: 'finish', reason: { kind: 'stop' } },
];

function adapter(ids: readonly string[], stream: Stream = async function* () {}): ModelAdapter {
  return {
    providers: ids.map((id) => ({ id, name: id.toUpperCase(), catalog: 'advisory' })),
    models: () => [
      { id: 'blind', inputModalities: ['text'], reasoningEfforts: [] },
      { id: 'seeing', inputModalities: ['text', 'image'], reasoningEfforts: [] },
    ],
    prepare: (config) => ({ config: { ...config, maxTokens: 5 }, contextWindow: 9, stream }),
  };
}

function registry(adapters: readonly ModelAdapter[] = [], defaults: readonly DefaultAdapter[] = []) {
  return new ContributedAdapterRegistry(adapters, defaults);
}

function failing(run: () => unknown): { code: string; message: string } {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof LlmError) return { code: thrown.code, message: thrown.message };
    throw thrown;
  }
  throw new Error('nothing was thrown');
}

describe('ContributedAdapterRegistry', () => {
  it('lists the providers in the order of the contributions', () => {
    const routes = registry([adapter(['b', 'a']), adapter(['c'])]);
    expect(routes.providers().map(({ id }) => id)).to.deep.equal(['b', 'a', 'c']);
    expect(routes.has('a')).to.equal(true);
    expect(routes.has('x')).to.equal(false);
  });

  it('names the provider that nothing serves', () => {
    const missing = { code: 'NO_ADAPTER', message: 'no adapter registered for provider "x"' };
    expect(failing(() => registry().prepare({ provider: 'x', model: 'm' }))).to.deep.equal(missing);
    expect(failing(() => registry().models('x'))).to.deep.equal(missing);
  });

  it('passes on what the adapter resolved', () => {
    const { config, contextWindow } = registry([adapter(['a'])]).prepare({ provider: 'a', model: 'm' });
    expect({ config, contextWindow }).to.deep.equal({
      config: { provider: 'a', model: 'm', maxTokens: 5 },
      contextWindow: 9,
    });
  });

  it('claims all providers of an adapter or none', () => {
    const routes = registry([adapter(['a'])]);
    expect(failing(() => routes.register(adapter(['b', 'a', 'c']))).code).to.equal('DUPLICATE_ADAPTER');
    expect(failing(() => routes.register(adapter(['b', 'b']))).code).to.equal('DUPLICATE_ADAPTER');
    expect(routes.providers().map(({ id }) => id)).to.deep.equal(['a']);
  });

  it('releases what it registered, and only that', () => {
    const routes = registry();
    const release = routes.register(adapter(['a']));
    release();
    expect(routes.has('a')).to.equal(false);
    routes.register(adapter(['a']));
    release();
    expect(routes.has('a')).to.equal(true);
  });

  const unusable: readonly (readonly [what: string, value: unknown])[] = [
    ['no adapter', undefined],
    ['no methods', { providers: [{ id: 'a', name: 'A', catalog: 'closed' }] }],
    ['no list of providers', { ...adapter(['a']), providers: undefined }],
    ['no providers', adapter([])],
    ['a provider without id', adapter(['a', ''])],
    ['an unknown catalog', { ...adapter(['a']), providers: [{ id: 'a', name: 'A', catalog: 'open' }] }],
  ];
  for (const [what, value] of unusable) {
    it(`refuses ${what}`, () => {
      const routes = registry();
      expect(failing(() => routes.register(value as ModelAdapter)).code).to.equal('INVALID_ADAPTER');
      expect(routes.providers()).to.deep.equal([]);
    });
  }

  it('mounts a shipped adapter once, where nothing serves its provider', () => {
    let made = 0;
    const shipped: DefaultAdapter = {
      provider: 'a',
      create() {
        made += 1;
        return adapter(['a']);
      },
    };
    const routes = registry([], [shipped]);
    expect(routes.mountDefault('x')).to.equal(undefined);
    const release = routes.mountDefault('a');
    expect(routes.has('a')).to.equal(true);
    expect(routes.mountDefault('a')).to.equal(undefined);
    release?.();
    expect(routes.has('a')).to.equal(false);
    routes.mountDefault('a');
    expect(made).to.equal(1);
    expect(registry([adapter(['a'])], [shipped]).mountDefault('a')).to.equal(undefined);
  });

  describe('stream', () => {
    function run(stream: Stream, request: Partial<ModelRequest> = {}) {
      const call = registry([adapter(['a'], stream)]).prepare({ provider: 'a', model: 'm' });
      return call.stream(modelRequest({ config: call.config, ...request }));
    }

    it('hands the adapter a request that is frozen', async () => {
      let seen: ModelRequest | undefined;
      await collect(
        run(async function* (request) {
          seen = request;
          yield [...HELLO, ...END];
        }),
      );
      expect(seen).to.be.frozen;
      expect(seen?.messages).to.be.frozen;
    });

    it('passes a whole answer through', async () => {
      const chunks = await collect(
        run(async function* () {
          yield HELLO;
          yield END;
        }),
      );
      expect(chunks).to.deep.equal([...HELLO, ...END]);
    });

    it('drops what comes after the finish', async () => {
      const chunks = await collect(
        run(async function* () {
          yield [...HELLO, ...END, ...HELLO];
          yield HELLO;
        }),
      );
      expect(chunks).to.deep.equal([...HELLO, ...END]);
    });

    it('closes a stream that ends early (H3)', async () => {
      const chunks = await collect(
        run(async function* () {
          yield HELLO;
        }),
      );
      const message = 'the LLM adapter ended its stream without a finish';
      expect(finishOf(chunks)).to.deep.equal({ kind: 'error', failure: { code: 'STREAM_CLOSED', message } });
      expect(chunks.slice(0, 2)).to.deep.equal(HELLO);
    });

    const facts = { code: 'RATE_LIMIT', message: 'slow down', status: 429, providerRetryAfterMs: 1000 };
    const throws: readonly (readonly [what: string, thrown: unknown, failure: object])[] = [
      ['an LlmError', new LlmError(facts), facts],
      ['an LlmError of another copy', Object.assign(new Error('x'), { failure: facts }), facts],
      ['a coded error', new CodedError('MINE', 'own words'), { code: 'MINE', message: 'own words' }],
      ['any error', new TypeError('no such thing'), { code: 'UNKNOWN', message: 'no such thing' }],
      ['an error without words', new Error(''), { code: 'UNKNOWN', message: 'LLM adapter failed' }],
      ['a string', 'broken', { code: 'UNKNOWN', message: 'broken' }],
      ['nothing', undefined, { code: 'UNKNOWN', message: 'LLM adapter failed' }],
    ];
    for (const [what, thrown, failure] of throws) {
      it(`turns ${what} into the finish`, async () => {
        const chunks = await collect(
          run(async function* () {
            yield HELLO;
            throw thrown;
          }),
        );
        expect(finishOf(chunks)).to.deep.equal({ kind: 'error', failure });
      });
    }

    it('contains an adapter whose stream method throws', async () => {
      const chunks = await collect(
        run(() => {
          throw new Error('not even a stream');
        }),
      );
      expect(finishOf(chunks)).to.deep.include({ kind: 'error' });
    });

    it('calls whatever ends an aborted call aborted', async () => {
      const abort = new AbortController();
      const chunks = await collect(
        run(
          async function* () {
            yield HELLO;
            abort.abort();
            throw new Error('socket hang up');
          },
          { signal: abort.signal },
        ),
      );
      const failure = { code: 'ABORTED', message: 'the model call was aborted' };
      expect(finishOf(chunks)).to.deep.equal({ kind: 'aborted', failure });
    });

    it('asks no adapter when the call is aborted beforehand', async () => {
      let asked = false;
      const chunks = await collect(
        run(
          async function* () {
            asked = true;
            yield END;
          },
          { signal: AbortSignal.abort() },
        ),
      );
      expect(finishOf(chunks)).to.deep.include({ kind: 'aborted' });
      expect(asked).to.equal(false);
    });

    it('tears the call down when the consumer stops', async () => {
      let closed = false;
      const stream = run(async function* () {
        try {
          for (;;) yield HELLO;
        } finally {
          closed = true;
        }
      });
      for await (const _ of stream) break;
      expect(closed).to.equal(true);
    });
  });

  describe('history', () => {
    const image: ImageBlock = {
      type: 'image',
      attachment: { attachmentId: 'sha256:abc', mediaType: 'image/png', bytes: 1, width: 1, height: 1 },
    };
    const left = { type: 'text', text: '[image left out: sha256:abc]' };

    async function seen(model: string, messages: ModelRequest['messages']): Promise<ModelRequest['messages']> {
      let got: ModelRequest['messages'] = [];
      const call = registry([
        adapter(['a'], async function* (request) {
          got = request.messages;
          yield [{ type: 'finish', reason: { kind: 'stop' } }];
        }),
      ]).prepare({ provider: 'a', model });
      await collect(call.stream(modelRequest({ config: call.config, messages })));
      return got;
    }

    it('says where an image was left out for a model that reads text only', async () => {
      const call = { type: 'tool-call', id: 'c-1', name: 'f', arguments: '{}' } as const;
      const messages = [user('see', image), assistant(call), toolResult('c-1', 'shot', image), user('plain')];
      const got = await seen('blind', messages);
      expect(got[0]?.content).to.deep.equal([{ type: 'text', text: 'see' }, left]);
      expect(got[2]?.content).to.deep.equal([
        { type: 'tool-result', toolCallId: 'c-1', content: [{ type: 'text', text: 'shot' }, left] },
      ]);
      expect(got[3]).to.equal(messages[3]);
    });

    for (const model of ['seeing', 'unlisted']) {
      it(`hands images to a model that is ${model}`, async () => {
        const messages = [user(image)];
        expect((await seen(model, messages))[0]).to.equal(messages[0]);
      });
    }

    it('hands replay state back to the provider that made it only', async () => {
      const from = (provider: string) => ({
        ...assistant('hi'),
        source: { kind: 'model' as const, provider, model: 'm', replayState: { response: 'r' } },
      });
      const got = await seen('seeing', [from('a'), from('b')]);
      expect(got.map((message) => message.source)).to.deep.equal([
        { kind: 'model', provider: 'a', model: 'm', replayState: { response: 'r' } },
        { kind: 'model', provider: 'b', model: 'm' },
      ]);
    });
  });
});
