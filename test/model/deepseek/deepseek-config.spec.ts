import { expect } from 'chai';
import { Scope } from '../../../src/kernel/index.js';
import { ModelAdapter } from '../../../src/model/adapter.js';
import { deepseekModule } from '../../../src/model/deepseek/deepseek.module.js';

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
    [{ models: {} }, /models must be a list/],
    [{ models: [{ id: 'a' }, 'b'] }, /models\[1\] must be a mapping/],
    [{ models: [[{ id: 'a' }]] }, /models\[0\] must be a mapping/],
    [{ models: [{ id: '' }] }, /models\[0\]: id/],
    [{ models: [{ id: 'a', price: 1 }] }, /models\[0\]: property price/],
    [{ models: [{ id: 'a', maxTokens: -1 }] }, /models\[0\]: maxTokens/],
    [{ models: [{ id: 'a', inputModalities: ['smell'] }] }, /models\[0\]: .*inputModalities/],
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
