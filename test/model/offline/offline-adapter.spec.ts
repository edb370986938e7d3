import { expect } from 'chai';
import { offlineModule } from '../../../src/model/offline/offline.module.js';
import { OfflineAdapter } from '../../../src/model/offline/offline-adapter.js';

function prepare(model: string, config: { script?: string } = {}, reasoningEffort?: string): unknown {
  const effort = reasoningEffort === undefined ? {} : { reasoningEffort };
  return new OfflineAdapter(config).prepare({ provider: 'offline', model, ...effort }).config;
}

describe('OfflineAdapter', () => {
  it('has a closed catalog of two models', () => {
    const adapter = new OfflineAdapter({});
    expect(adapter.providers).to.deep.equal([{ id: 'offline', name: 'Offline', catalog: 'closed' }]);
    expect(adapter.models().map(({ id }) => id)).to.deep.equal(['demo', 'script']);
  });

  it('takes its own models, and a script by its path', () => {
    expect(prepare('demo')).to.deep.equal({ provider: 'offline', model: 'demo' });
    expect(prepare('script', { script: 'x.yml' })).to.deep.include({ model: 'script' });
    expect(prepare('script:dir/x.yml')).to.deep.include({ model: 'script:dir/x.yml' });
  });

  it('takes every effort that the other adapters take', () => {
    for (const effort of ['off', 'low', 'high', 'max']) {
      expect(prepare('demo', {}, effort)).to.deep.include({ reasoningEffort: effort });
    }
    expect(() => prepare('demo', {}, 'huge'))
      .to.throw('"huge"')
      .with.property('code', 'UNSUPPORTED_REASONING_EFFORT');
  });

  for (const model of ['gpt', 'script:', 'Demo', '']) {
    it(`refuses the model ${JSON.stringify(model)}`, () => {
      expect(() => prepare(model))
        .to.throw(`no offline model "${model}": use "demo", "script" or "script:PATH"`)
        .with.property('code', 'UNKNOWN_MODEL');
    });
  }

  it('says how to name a script when the row names none', () => {
    for (const config of [{}, { script: '' }]) {
      expect(() => prepare('script', config))
        .to.throw('model "script" has no script: set DSH_OFFLINE_SCRIPT to its path, or use the model "script:PATH"')
        .with.property('code', 'UNKNOWN_MODEL');
    }
  });

  for (const config of [{ script: 5 }, { scripts: 'x.yml' }]) {
    it(`refuses the config ${JSON.stringify(config)}`, async () => {
      const error = await offlineModule.configure(config).catch((thrown: unknown) => thrown);
      expect(error).to.have.property('code', 'INVALID_CONFIG');
    });
  }
});
