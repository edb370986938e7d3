import { expect } from 'chai';
import { offlineModule } from '../../../src/model/offline/offline.module.js';
import { OfflineAdapter, type OfflineConfig } from '../../../src/model/offline/offline-adapter.js';

function prepare(model: string, config: OfflineConfig = {}, reasoningEffort?: string): unknown {
  const effort = reasoningEffort === undefined ? {} : { reasoningEffort };
  return new OfflineAdapter(config).prepare({ provider: 'offline', model, ...effort }).config;
}

describe('OfflineAdapter', () => {
  it('has a closed catalog of three models', () => {
    const adapter = new OfflineAdapter({});
    expect(adapter.providers).to.deep.equal([{ id: 'offline', name: 'Offline', catalog: 'closed' }]);
    expect(adapter.models().map(({ id }) => id)).to.deep.equal(['demo', 'script', 'replay']);
  });

  it('takes its own models, and a script or a log by its path', () => {
    expect(prepare('demo')).to.deep.equal({ provider: 'offline', model: 'demo' });
    expect(prepare('script', { script: 'x.yml' })).to.deep.include({ model: 'script' });
    expect(prepare('script:dir/x.yml')).to.deep.include({ model: 'script:dir/x.yml' });
    expect(prepare('replay', { replay: 'x.jsonl' })).to.deep.include({ model: 'replay' });
    expect(prepare('replay:dir/x.jsonl')).to.deep.include({ model: 'replay:dir/x.jsonl' });
  });

  it('takes every effort that the other adapters take', () => {
    for (const effort of ['off', 'low', 'high', 'max']) {
      expect(prepare('demo', {}, effort)).to.deep.include({ reasoningEffort: effort });
    }
    expect(() => prepare('demo', {}, 'huge'))
      .to.throw('"huge"')
      .with.property('code', 'UNSUPPORTED_REASONING_EFFORT');
  });

  for (const model of ['gpt', 'script:', 'replay:', 'scripts', 'Demo', '']) {
    it(`refuses the model ${JSON.stringify(model)}`, () => {
      expect(() => prepare(model))
        .to.throw(`no offline model "${model}": use "demo", "script", "script:PATH", "replay" or "replay:PATH"`)
        .with.property('code', 'UNKNOWN_MODEL');
    });
  }

  it('says how to name a file when the row names none', () => {
    for (const config of [{}, { script: '', replay: '' }]) {
      expect(() => prepare('script', config))
        .to.throw('model "script" has no script: set DSH_OFFLINE_SCRIPT to its path, or use the model "script:PATH"')
        .with.property('code', 'UNKNOWN_MODEL');
      expect(() => prepare('replay', config))
        .to.throw('model "replay" has no log: set DSH_OFFLINE_REPLAY to its path, or use the model "replay:PATH"')
        .with.property('code', 'UNKNOWN_MODEL');
    }
  });

  for (const config of [
    { script: 5 },
    { scripts: 'x.yml' },
    { replay: [] },
    { replayMap: ['/a'] },
    { replayMap: { '/a': 1 } },
  ]) {
    it(`refuses the config ${JSON.stringify(config)}`, async () => {
      const error = await offlineModule.configure(config).catch((thrown: unknown) => thrown);
      expect(error).to.have.property('code', 'INVALID_CONFIG');
    });
  }
});
