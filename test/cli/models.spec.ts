import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { dsh } from '../support/run-dsh.js';
import { useTempDir } from '../support/temp-dir.js';

describe('dsh models', () => {
  const dir = useTempDir();

  it('lists what the providers of a profile serve, without a key', async () => {
    const { code, stdout, stderr } = await dsh(['models']);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    const [head, ...rows] = stdout.split('\n').map((line) => line.split(/ {2,}/));
    expect(head).to.deep.equal(['PROVIDER', 'MODEL', 'CONTEXT', 'OUTPUT', 'EFFORTS', 'INPUT', 'PRICE/M']);
    const flash = ['deepseek-official', 'deepseek-v4-flash', '1000000', '256000', 'off,low,high,max', 'text', '-'];
    expect(rows).to.deep.include(flash);
    expect(rows).to.deep.include(['offline', 'replay', '-', '-', 'off,low,high,max', 'text,image', '-']);
    expect(stdout).to.contain('\ndeepseek-official: models that are not listed are passed on.\n');
  });

  it('gives one JSON document, with prices where they are known', async () => {
    const prices = join(dir.path, 'prices.json');
    const perMillion = { input: 0.5, output: 2.25, cacheRead: 0.1 };
    await writeFile(
      prices,
      JSON.stringify([{ provider: 'deepseek-official', model: 'deepseek-v4-pro', currency: 'CNY', perMillion }]),
    );
    const { stdout } = await dsh(['models', '--profile', 'sdk-minimal', '--json', '--prices', prices]);
    const { providers } = JSON.parse(stdout);
    const deepseek = providers.find(({ id }: { id: string }) => id === 'deepseek-official');
    expect(deepseek).to.deep.include({ name: 'DeepSeek', catalog: 'advisory' });
    const [flash, pro] = deepseek.models;
    expect(flash)
      .to.deep.include({ id: 'deepseek-v4-flash', contextWindow: 1_000_000 })
      .and.not.to.have.property('price');
    expect(pro.price).to.deep.equal({ currency: 'CNY', perMillion });
    const table = await dsh(['models', '--prices', prices]);
    expect(table.stdout).to.match(/deepseek-v4-pro .* 0\.5 \+ 2\.25 CNY$/m);
  });

  const wrong: readonly [string[], string][] = [
    [['models', 'x'], 'unexpected argument "x"'],
    [['models', '--wat'], "Unknown option '--wat'"],
    [['models', '--profile', ''], '--profile must not be empty'],
    [
      ['models', '--profile', 'nope'],
      'there is no profile "nope"; shipped profiles: sdk, sdk-minimal; to make one: dsh --profile nope --from-default-profile sdk, or dsh plugin --profile nope add PACKAGE',
    ],
    [
      ['models', '--prices', '/nowhere/p'],
      "the prices /nowhere/p cannot be used: ENOENT: no such file or directory, open '/nowhere/p'",
    ],
  ];
  for (const [args, message] of wrong) {
    it(`refuses ${JSON.stringify(args.join(' '))} with exit 1`, async () => {
      const { code, stdout, stderr } = await dsh(args);
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
      expect(stderr.split('\n')[0]).to.equal(`dsh: ${message}`);
    });
  }

  it('names the row whose config is broken', async () => {
    const { code, stderr } = await dsh(['models'], { DSH_CONTEXT_WINDOW: 'huge' });
    expect(code).to.equal(1);
    expect(stderr).to.match(/row "llm-deepseek": defaultContextWindow/);
  });
});
