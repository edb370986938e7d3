import { expect } from 'chai';
import { parse } from 'yaml';
import {
  dumpProfile,
  loadProfile,
  type Profile,
  ProfileModules,
  patchProfile,
  remarksOf,
} from '../../src/profile/index.js';
import { useHome } from '../support/home.js';

describe('dumpProfile', () => {
  const home = useHome();

  it('gives each run of rows its origin and who patched it, and each patched value its source', async () => {
    const mine = home.write(
      'profiles/mine/profile.yml',
      'rows:\n  - { id: a, module: m }\n  - { id: b, module: m, config: { x: 1, deep: { y: 1 } } }\n  - { id: c, module: m }\n',
    );
    const patch = home.write(
      'patch.yml',
      '- { id: b, merge: { deep: { y: 2, list: [1] } } }\n- { id: c, disabled: true }\n',
    );
    const one = home.write(
      'one.yml',
      '- insert: [{ id: d, module: ./d.mjs }]\n- { id: c, config: { k: "${env:K}" } }\n',
    );
    const text = await dumpProfile(await loadProfile({ name: 'mine', home: home.path, patches: [one] }));
    expect(text).to.equal(
      [
        `# == ${mine}`,
        '- id: a',
        '  module: m',
        `# == ${mine}, patched by ${patch}`,
        '- id: b',
        '  module: m',
        '  config:',
        '    x: 1',
        '    deep:',
        `      y: 2 # from ${patch}`,
        `      # from ${patch}`,
        '      list:',
        '        - 1',
        `# == ${mine}, patched by ${patch}, ${one}`,
        '- id: c',
        '  module: m',
        `  # from ${one}`,
        '  config:',
        '    k: ${env:K}',
        `  disabled: true # from ${patch}`,
        `# == ${one}`,
        '- id: d',
        `  module: ${home.path}/d.mjs`,
        '',
      ].join('\n'),
    );
  });

  it('can be loaded back as rows that come to the same', async () => {
    home.write('patch.yml', '- { id: llm-deepseek, merge: { baseURL: "https://host/#x", note: "a: b # c" } }\n');
    const profile = await loadProfile({ name: 'sdk', home: home.path });
    const rows = parse(await dumpProfile(profile)) as Profile['rows'];
    expect(rows).to.deep.equal(profile.rows);
    expect((await patchProfile({ name: 'again', rows }, [])).rows).to.deep.equal(rows);
  });

  it('of no rows is an empty list', async () => {
    expect(parse(await dumpProfile({ name: 'none', rows: [] }))).to.deep.equal([]);
  });

  const secrets: readonly (readonly [config: object, shown: object])[] = [
    [{ apiKey: 'sk-1' }, { apiKey: '[hidden]' }],
    [{ apiKey: '${env:KEY}' }, { apiKey: '${env:KEY}' }],
    [{ apiKey: '${env:KEY:-sk-1}' }, { apiKey: '[hidden]' }],
    [{ apiKey: 'sk-1${env:KEY}' }, { apiKey: '[hidden]' }],
    [{ apiKeyEnv: 'MY_KEY' }, { apiKeyEnv: 'MY_KEY' }],
    [{ password: '' }, { password: '' }],
    [{ maxTokens: 7 }, { maxTokens: 7 }],
    [
      { headers: { 'x-org': 'sk-1', Authorization: 'Bearer ${env:T}' } },
      { headers: { 'x-org': '[hidden]', Authorization: 'Bearer ${env:T}' } },
    ],
    [
      { servers: [{ env: { MY_TOKEN: 'sk-1', PLAIN: 'x' } }] },
      { servers: [{ env: { MY_TOKEN: '[hidden]', PLAIN: 'x' } }] },
    ],
    [{ tokens: ['sk-1', 'sk-2'] }, { tokens: ['[hidden]', '[hidden]'] }],
    [{ url: 'https://u:sk-1@host/p?a=1' }, { url: 'https://u:hidden@host/p?a=1' }],
    [{ url: 'https://host/v1?api_key=sk-1&v=2' }, { url: 'https://host/v1?api_key=hidden&v=2' }],
    [{ url: 'https://host/v1?v=2#top' }, { url: 'https://host/v1?v=2#top' }],
  ];
  for (const [config, shown] of secrets) {
    it(`shows ${JSON.stringify(config)} as ${JSON.stringify(shown)}`, async () => {
      const rows = [{ id: 'a', module: 'm', config: config as Record<string, unknown> }];
      const text = await dumpProfile({ name: 'p', rows });
      expect(parse(text)).to.deep.equal([{ id: 'a', module: 'm', config: shown }]);
    });
  }

  it('says what plugins replace, and which cannot be loaded', async () => {
    home.write(
      'swap.mjs',
      `import { ContainerModule } from 'inversify';
       import { AdapterRegistry, definePlugin, PriceTable, SystemPrompt } from 'dsh-inversify/plugin';
       export default definePlugin({
         name: 'swap',
         runtime: new ContainerModule(({ bind, rebind, unbind }) => {
           rebind(AdapterRegistry).toConstantValue({});
           unbind(SystemPrompt);
           bind(SystemPrompt).toConstantValue({});
           unbind(PriceTable);
         }),
       });`,
    );
    const from = home.write(
      'patch.yml',
      '- insert: [{ id: swap, module: ./swap.mjs }, { id: gone, module: ./gone.mjs }]\n',
    );
    const profile = await loadProfile({ name: 'sdk-minimal', home: home.path });
    const remarks = await remarksOf(profile, new ProfileModules(), { env: {}, home: home.path });
    const text = await dumpProfile(profile, remarks);
    expect(text).to.contain(
      `# == ${from}\n# replaces AdapterRegistry\n# replaces SystemPrompt\n# unbinds PriceTable\n- id: swap\n`,
    );
    expect(text).to.contain(
      `# cannot be loaded: there is no module "./gone.mjs": ${home.path}/gone.mjs is no file\n- id: gone\n`,
    );
    expect(parse(text)).to.have.lengthOf(profile.rows.length);
  });
});
