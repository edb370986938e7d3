import { expect } from 'chai';
import { Scope } from '../../src/kernel/index.js';
import { deepseekModule } from '../../src/model/deepseek/deepseek.module.js';
import { AdapterRegistry } from '../../src/model/index.js';
import { modelModule } from '../../src/model/model.module.js';
import { offlineModule } from '../../src/model/offline/offline.module.js';

describe('model modules', () => {
  let scope: Scope;
  beforeEach(() => {
    scope = Scope.root('test');
  });
  afterEach(() => scope.close());

  async function registryOf(...modules: readonly (typeof modelModule)[]): Promise<AdapterRegistry> {
    for (const module of modules) {
      const { runtime } = await module.configure(undefined);
      if (runtime !== undefined) await scope.load(runtime);
    }
    return scope.get(AdapterRegistry);
  }

  it('contribute their providers in the order of the rows', async () => {
    const registry = await registryOf(modelModule, deepseekModule, offlineModule);
    expect(registry.providers().map(({ id, name, catalog }) => [id, name, catalog])).to.deep.equal([
      ['deepseek-official', 'DeepSeek', 'advisory'],
      ['offline', 'Offline', 'closed'],
    ]);
    expect(registry.mountDefault('deepseek-official')).to.equal(undefined);
  });

  it('mount DeepSeek with its default config where no row does', async () => {
    const registry = await registryOf(modelModule, offlineModule);
    expect(registry.has('deepseek-official')).to.equal(false);
    const release = registry.mountDefault('deepseek-official');
    expect(registry.prepare({ provider: 'deepseek-official', model: 'any' }).config).to.deep.equal({
      provider: 'deepseek-official',
      model: 'any',
      reasoningEffort: 'high',
      maxTokens: 256_000,
    });
    expect(scope.pending).to.include('DeepSeek connections');
    release?.();
    expect(registry.has('deepseek-official')).to.equal(false);
    expect(registry.mountDefault('offline')).to.equal(undefined);
  });

  it('need no adapter at all', async () => {
    expect((await registryOf(modelModule)).providers()).to.deep.equal([]);
  });
});
