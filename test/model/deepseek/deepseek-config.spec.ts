import { expect } from 'chai';
import { Scope } from '../../../src/kernel/index.js';
import { ModelAdapter } from '../../../src/model/adapter.js';
import { deepseekModule } from '../../../src/model/deepseek/deepseek.module.js';
import { DEFAULT_RETRY_POLICY } from '../../../src/model/index.js';

/** The adapter of a row with this config. */
async function adapterOf(config: unknown): Promise<ModelAdapter> {
  const scope = Scope.root('test');
  const { runtime } = await deepseekModule.configure(config);
  if (runtime !== undefined) await scope.load(runtime);
  const [adapter] = scope.all(ModelAdapter);
  await scope.close();
  return adapter as ModelAdapter;
}
const route = { provider: 'deepseek-official', model: 'deepseek-v4-flash' };

describe('llm-deepseek', () => {
  it('has a catalog and defaults without any config', async () => {
    const adapter = await adapterOf(undefined);
    expect(adapter.providers).to.deep.equal([{ id: 'deepseek-official', name: 'DeepSeek', catalog: 'advisory' }]);
    expect(adapter.models('deepseek-official').map(({ id, inputModalities }) => [id, inputModalities])).to.deep.equal([
      ['deepseek-v4-flash', ['text']],
      ['deepseek-v4-pro', ['text']],
      ['deepseek-v4-flash-vision-exp', ['text', 'image']],
    ]);
    expect(adapter.models('deepseek-official')[0]).to.deep.include({
      contextWindow: 1_000_000,
      maxTokens: 256_000,
      reasoningEfforts: ['off', 'low', 'high', 'max'],
    });
  });

  it('fills in what the caller left open, and marks it', async () => {
    const adapter = await adapterOf({});
    const { config, adapterDefaults, contextWindow } = adapter.prepare(route);
    expect({ config, adapterDefaults, contextWindow }).to.deep.equal({
      config: { ...route, reasoningEffort: 'high', maxTokens: 256_000 },
      adapterDefaults: { reasoningEffort: true, maxTokens: true },
      contextWindow: 1_000_000,
    });
    const asked = { ...route, reasoningEffort: 'max', maxTokens: 7 };
    expect(adapter.prepare(asked)).to.deep.include({ config: asked, adapterDefaults: {} });
  });

  it('takes the numbers of a model before those of the row', async () => {
    const adapter = await adapterOf({
      maxTokens: 10,
      defaultContextWindow: 20,
      models: [{ id: 'a', contextWindow: 30, maxTokens: 40 }, { id: 'b' }],
    });
    const numbers = (model: string): unknown => {
      const call = adapter.prepare({ provider: 'deepseek-official', model });
      return [call.config.maxTokens, call.contextWindow];
    };
    expect(numbers('a')).to.deep.equal([40, 30]);
    expect(numbers('b')).to.deep.equal([10, 20]);
    expect(numbers('unlisted')).to.deep.equal([10, 20]);
  });

  it('may have an empty catalog', async () => {
    expect((await adapterOf({ models: [] })).models('deepseek-official')).to.deep.equal([]);
  });

  it('knows effort off only when thinking is disabled', async () => {
    const adapter = await adapterOf({ thinking: 'disabled' });
    expect(adapter.prepare(route).config.reasoningEffort).to.equal('off');
    expect(() => adapter.prepare({ ...route, reasoningEffort: 'high' }))
      .to.throw('use one of: off')
      .with.property('code', 'UNSUPPORTED_REASONING_EFFORT');
  });

  it('refuses an effort that does not exist', async () => {
    const adapter = await adapterOf({ reasoningEffort: 'low' });
    expect(adapter.prepare(route).config.reasoningEffort).to.equal('low');
    expect(() => adapter.prepare({ ...route, reasoningEffort: 'huge' }))
      .to.throw('reasoning effort "huge" is not supported, use one of: off, low, high, max')
      .with.property('code', 'UNSUPPORTED_REASONING_EFFORT');
  });

  it('takes the retry policy of the row, and the default for what it leaves out', async () => {
    expect((await adapterOf({})).prepare(route)).not.to.have.property('retryPolicy');
    const adapter = await adapterOf({ retryPolicy: { maxRetries: 0, codes: ['SERVER'], jitterRatio: 0 } });
    expect(adapter.prepare(route).retryPolicy).to.deep.equal({
      ...DEFAULT_RETRY_POLICY,
      maxRetries: 0,
      codes: ['SERVER'],
      jitterRatio: 0,
    });
  });

  it('tells of a model what the catalog does, and no more', async () => {
    const adapter = await adapterOf({ models: [{ id: 'a', inputModalities: ['image'], imageDetail: 'low' }] });
    expect(adapter.models('deepseek-official')).to.deep.equal([
      {
        id: 'a',
        inputModalities: ['image'],
        contextWindow: 1_000_000,
        maxTokens: 256_000,
        reasoningEfforts: ['off', 'low', 'high', 'max'],
      },
    ]);
  });

  const wrong: readonly (readonly [config: object, message: RegExp])[] = [
    [{ apikeyEnv: 'X' }, /apikeyEnv/],
    [{ apiKeyEnv: 'sk-123' }, /apiKeyEnv must be the name of an environment variable/],
    [{ baseURL: 'ftp://x' }, /baseURL must be an http or https URL/],
    [{ baseURL: 'api.deepseek.com' }, /baseURL/],
    [{ baseURL: 'https://' }, /baseURL/],
    [{ thinking: true }, /thinking/],
    [{ reasoningEffort: 'medium' }, /reasoningEffort/],
    [{ thinking: 'disabled', reasoningEffort: 'high' }, /reasoningEffort must be off when thinking is disabled/],
    [{ maxTokens: 0 }, /maxTokens must be a positive safe integer/],
    [{ maxTokens: '5' }, /maxTokens/],
    [{ defaultContextWindow: 1.5 }, /defaultContextWindow/],
    [{ streamIdleTimeoutMs: 0 }, /streamIdleTimeoutMs/],
    [{ streamIdleTimeoutMs: 2 ** 31 }, /streamIdleTimeoutMs/],
    [{ connectTimeoutMs: 0 }, /connectTimeoutMs/],
    [{ resendReasoning: 'sometimes' }, /resendReasoning/],
    [{ maxImagesPerRequest: 0 }, /maxImagesPerRequest must be a positive safe integer/],
    [{ maxInlineRequestImageBytes: '1' }, /maxInlineRequestImageBytes/],
    [{ inlineImageOffloadByteQuantum: 0 }, /inlineImageOffloadByteQuantum/],
    [{ imageOffloadCountQuantum: -1 }, /imageOffloadCountQuantum/],
    [{ retryPolicy: [] }, /retryPolicy must be a mapping/],
    [{ retryPolicy: { retries: 3 } }, /retryPolicy: property retries/],
    [{ retryPolicy: { mode: 'never' } }, /retryPolicy: mode/],
    [{ retryPolicy: { maxRetries: -1 } }, /retryPolicy: maxRetries/],
    [{ retryPolicy: { codes: 'SERVER' } }, /retryPolicy: .*codes/],
    [{ retryPolicy: { codes: [5] } }, /retryPolicy: .*codes/],
    [{ retryPolicy: { initialDelayMs: 2 ** 31 } }, /retryPolicy: initialDelayMs/],
    [{ retryPolicy: { initialDelayMs: 20_000 } }, /retryPolicy: initialDelayMs must not be above maxDelayMs/],
    [{ retryPolicy: { maxDelayMs: 1_000.5 } }, /retryPolicy: maxDelayMs/],
    [{ retryPolicy: { jitterRatio: 1.1 } }, /retryPolicy: jitterRatio/],
    [{ retryPolicy: { overloadBudgetMs: -1 } }, /retryPolicy: overloadBudgetMs/],
    [{ models: {} }, /models must be a list/],
    [{ models: [{ id: 'a' }, 'b'] }, /models\[1\] must be a mapping/],
    [{ models: [[{ id: 'a' }]] }, /models\[0\] must be a mapping/],
    [{ models: [{ id: '' }] }, /models\[0\]: id/],
    [{ models: [{ id: 'a', price: 1 }] }, /models\[0\]: property price/],
    [{ models: [{ id: 'a', maxTokens: -1 }] }, /models\[0\]: maxTokens/],
    [{ models: [{ id: 'a', inputModalities: ['smell'] }] }, /models\[0\]: .*inputModalities/],
    [{ models: [{ id: 'a', inputModalities: 'text' }] }, /models\[0\]: .*inputModalities/],
    [{ models: [{ id: 'a', imageDetail: 'fine' }] }, /models\[0\]: imageDetail/],
    [{ models: [{ id: 'a' }, { id: 'a' }] }, /models must not name an id twice/],
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
});
