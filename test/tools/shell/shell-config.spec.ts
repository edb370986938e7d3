import { expect } from 'chai';
import { ConfigError } from '../../../src/kernel/index.js';
import { shellModule } from '../../../src/tools/shell/shell.module.js';
import { ShellConfig } from '../../../src/tools/shell/shell-config.js';
import { ShellScope } from '../../support/shell-scope.js';

describe('config of persistent-bash', () => {
  it('needs nothing, and takes a description of its own', async () => {
    for (const [config, expected] of [
      [{}, /stays open for the whole session/],
      [{ description: 'Mine.' }, /^Mine\.$/],
    ] as const) {
      const shell = await ShellScope.open(config);
      const [definition] = shell.tools.executor.definitions;
      expect(definition?.name).to.equal('bash');
      expect(definition?.description).to.match(expected);
      await shell.close();
    }
  });

  it('gives a command 300 seconds and shows 16000 characters of its output by default', async () => {
    const shell = await ShellScope.open();
    expect({ ...shell.tools.scope.get(ShellConfig) }).to.deep.include({ timeoutMs: 300_000, maxOutputChars: 16_000 });
    await shell.close();
  });

  for (const config of [
    { timeoutMs: 0 },
    { timeoutMs: 1.5 },
    { timeoutMs: '5' },
    { maxOutputChars: -1 },
    { maxOutputChars: 2 ** 53 },
    { description: ' ' },
    { description: 5 },
    { backend: 'pty' },
  ]) {
    it(`refuses ${JSON.stringify(config)}`, async () => {
      const thrown = await shellModule.configure(config).catch((error: unknown) => error);
      expect(thrown).to.be.instanceOf(ConfigError);
      expect((thrown as ConfigError).violations[0]?.path).to.equal(Object.keys(config)[0]);
    });
  }
});
