import { expect } from 'chai';
import {
  loadDefaultProfile,
  loadProfile,
  type PatchOperation,
  type Profile,
  patchProfile,
} from '../../src/profile/index.js';
import { useHome } from '../support/home.js';
import { rejectionOf } from '../support/rejection-of.js';

const MINE = 'profiles/mine/profile.yml';
const ROWS = `rows:
  - { id: a, module: agent, config: { one: 1, deep: { x: [1, 2], y: 2 } } }
  - { id: b, module: ./b.mjs }
  - { id: c, module: llm, disabled: true }
`;

describe('loadProfile', () => {
  const home = useHome();
  const load = (name = 'mine', patches: readonly (string | readonly PatchOperation[])[] = []): Promise<Profile> =>
    loadProfile({ name, home: home.path, patches });
  const ids = ({ rows }: Profile): string[] => rows.map(({ id }) => id);
  const row = (profile: Profile, id: string) => profile.rows.find((one) => one.id === id);

  describe('layers', () => {
    it('are, in order, what is extended, rows, the profile patch, the home patch, the patches given', async () => {
      home.write('profiles/base/profile.yml', 'rows: [{ id: base, module: agent }]\n');
      home.write('profiles/base/patch.yml', '- insert: [{ id: base-patch, module: agent }]\n');
      home.write(MINE, 'description: mine\nextends: base\nrows: [{ id: own, module: agent }]\n');
      home.write('profiles/mine/patch.yml', '- insert: [{ id: own-patch, module: agent }]\n');
      home.write('patch.yml', '- insert: [{ id: home-patch, module: agent }]\n');
      const one = home.write('one.yml', '- insert: [{ id: one, module: agent }]\n');
      const two = home.write('two.yml', '- insert: [{ id: two, module: agent }]\n');
      const profile = await load('mine', [two, one, [{ insert: [{ id: 'code', module: 'agent' }] }]]);
      expect(ids(profile)).to.deep.equal([
        'base',
        'base-patch',
        'own',
        'own-patch',
        'home-patch',
        'two',
        'one',
        'code',
      ]);
      expect(profile).to.deep.include({ name: 'mine', description: 'mine', warnings: [] });
    });

    it('of a shipped profile are its patch, which whoever extends it does not get, and the home patch', async () => {
      home.write('profiles/sdk-minimal/patch.yml', '- { id: tool-str-replace-editor, remove: true }\n');
      home.write(MINE, 'extends: sdk-minimal\nrows: []\n');
      expect(ids(await load('sdk-minimal'))).not.to.include('tool-str-replace-editor');
      expect(ids(await load('mine'))).to.include('tool-str-replace-editor');
      expect(ids(await load('sdk'))).to.include('tool-str-replace-editor');
    });

    it('remember where rows are seen from', async () => {
      const file = home.write(MINE, ROWS);
      const patch = home.write('p/patch.yml', '- insert: [{ id: d, module: ./d.mjs }]\n');
      const profile = await load('mine', [patch]);
      expect(row(profile, 'b')?.from).to.equal(file);
      expect(row(profile, 'd')?.from).to.equal(patch);
    });

    it('without patches are the default, however broken those are', async () => {
      home.write(MINE, ROWS);
      home.write('profiles/mine/patch.yml', '{');
      home.write('patch.yml', 'nonsense');
      expect(ids(await loadDefaultProfile({ name: 'mine', home: home.path }))).to.deep.equal(['a', 'b', 'c']);
      expect(ids(await loadDefaultProfile({ name: 'sdk', home: home.path }))).to.include('llm');
    });
  });

  describe('operations', () => {
    const rows = ROWS.slice(ROWS.indexOf('\n') + 1);
    const cases: readonly (readonly [what: string, patch: string, ids: string[], changed: object])[] = [
      ['insert at the end', '- insert: [{ id: x, module: m }]', ['a', 'b', 'c', 'x'], {}],
      [
        'insert before a row',
        '- { insert: [{ id: x, module: m }, { id: y, module: m }], before: b }',
        ['a', 'x', 'y', 'b', 'c'],
        {},
      ],
      ['insert after a row', '- { insert: [{ id: x, module: m }], after: a }', ['a', 'x', 'b', 'c'], {}],
      [
        'replace a config, and drop what is not restated',
        '- { id: a, config: { two: 2 } }',
        ['a', 'b', 'c'],
        { config: { two: 2 } },
      ],
      [
        'merge into a config, lists and scalars replaced',
        '- { id: a, merge: { one: 3, deep: { x: [9], z: 1 } } }',
        ['a', 'b', 'c'],
        { config: { one: 3, deep: { x: [9], y: 2, z: 1 } } },
      ],
      ['merge a name that objects inherit', '- { id: a, merge: { __proto__: { p: 1 } } }', ['a', 'b', 'c'], {}],
      [
        'disable and enable, the last word counts',
        '- { id: a, disabled: true }\n- { id: a, disabled: false }',
        ['a', 'b', 'c'],
        { disabled: false },
      ],
      ['assert the module', '- { id: a, module: agent, optional: true }', ['a', 'b', 'c'], { optional: true }],
      ['remove', '- { id: b, remove: true }', ['a', 'c'], {}],
      [
        'work on a row that an earlier layer inserted',
        '- insert: [{ id: x, module: m }]\n- { id: x, remove: true }',
        ['a', 'b', 'c'],
        {},
      ],
      ['change nothing', '[]', ['a', 'b', 'c'], {}],
    ];
    for (const [what, patch, order, changed] of cases) {
      it(what, async () => {
        home.write(MINE, `rows:\n${rows}`);
        const profile = await load('mine', [home.write('p.yml', `${patch}\n`)]);
        expect(ids(profile)).to.deep.equal(order);
        expect(profile.warnings).to.deep.equal([]);
        expect(row(profile, 'a')).to.deep.include(changed);
      });
    }

    const skipped: readonly (readonly [patch: string, why: string])[] = [
      ['- { id: x, disabled: true }', 'there is no row "x"'],
      ['- { id: x, remove: true }', 'there is no row "x"'],
      ['- { insert: [{ id: y, module: m }], after: x }', 'there is no row "x"'],
      ['- { id: a, module: llm, disabled: true }', 'row "a" has the module "agent", not "llm"'],
    ];
    for (const [patch, why] of skipped) {
      it(`passes over ${patch}, with a warning`, async () => {
        home.write(MINE, ROWS);
        const file = home.write('p.yml', `- { id: b, optional: true }\n${patch}\n- { id: c, disabled: false }\n`);
        const profile = await load('mine', [file]);
        expect(profile.warnings).to.deep.equal([`${file}: operation 2 is skipped: ${why}`]);
        expect(ids(profile)).to.deep.equal(['a', 'b', 'c']);
        expect(row(profile, 'a')?.disabled).to.equal(undefined);
        expect(row(profile, 'c')?.disabled).to.equal(false);
      });
    }

    it('leave the profile that was patched in code as it was', async () => {
      const profile: Profile = { name: 'code', rows: [{ id: 'a', module: 'm', config: { x: { y: 1 } } }] };
      const patched = await patchProfile(profile, [[{ id: 'a', merge: { x: { z: 2 } } }]]);
      expect(patched.rows).to.deep.equal([{ id: 'a', module: 'm', config: { x: { y: 1, z: 2 } } }]);
      expect(profile.rows).to.deep.equal([{ id: 'a', module: 'm', config: { x: { y: 1 } } }]);
    });
  });

  describe('what is broken', () => {
    /** `%` is the home directory. */
    const broken: readonly (readonly [files: Readonly<Record<string, string>>, code: string, message: string])[] = [
      [{ [MINE]: '' }, 'INVALID_PROFILE', `%/${MINE}: a profile is a mapping with description, extends, rows`],
      [{ [MINE]: '[]' }, 'INVALID_PROFILE', `%/${MINE}: a profile is a mapping with description, extends, rows`],
      [{ [MINE]: 'row: []' }, 'INVALID_PROFILE', `%/${MINE}: "row" is unknown; allowed: description, extends, rows`],
      [{ [MINE]: 'description: x' }, 'INVALID_PROFILE', `%/${MINE}: a profile needs rows, or extends`],
      [{ [MINE]: 'extends: 7' }, 'INVALID_PROFILE', `%/${MINE}: extends must be the name of a profile`],
      [{ [MINE]: 'extends: ../x' }, 'INVALID_PROFILE_NAME', '"../x" is not a profile name'],
      [{ [MINE]: 'description: 1\nrows: []' }, 'INVALID_PROFILE', `%/${MINE}: description must be a string`],
      [{ [MINE]: 'rows: {}' }, 'INVALID_PATCH', `%/${MINE}: rows must be a list of rows`],
      [{ [MINE]: 'rows: [x]' }, 'INVALID_PATCH', `%/${MINE}: rows[0] must be a mapping`],
      [{ [MINE]: 'rows: [{ id: a }]' }, 'INVALID_PATCH', `%/${MINE}: rows[0] has no module`],
      [{ [MINE]: 'rows: [{ module: a }]' }, 'INVALID_PATCH', `%/${MINE}: rows[0] has no id`],
      [
        { [MINE]: 'rows: [{ id: 1, module: a }]' },
        'INVALID_PATCH',
        `%/${MINE}: rows[0]: id must be a non-empty string`,
      ],
      [
        { [MINE]: 'rows: [{ id: a, module: m, modul: x }]' },
        'INVALID_PATCH',
        `%/${MINE}: rows[0]: "modul" is unknown; allowed: id, module, config, disabled, optional`,
      ],
      [
        { [MINE]: 'rows: [{ id: a, module: m, config: [] }]' },
        'INVALID_PATCH',
        `%/${MINE}: rows[0]: config must be a mapping`,
      ],
      [
        { [MINE]: 'rows: [{ id: a, module: m, disabled: 1 }]' },
        'INVALID_PATCH',
        `%/${MINE}: rows[0]: disabled must be true or false`,
      ],
      [
        { [MINE]: 'rows: [{ id: a, module: m }, { id: a, module: m }]' },
        'INVALID_PROFILE',
        `%/${MINE}: another row has the same id: "a" is there twice`,
      ],
      [
        { [MINE]: 'extends: sdk-minimal\nrows: [{ id: llm, module: llm }]' },
        'INVALID_PROFILE',
        `%/${MINE}: another row has the same id: "llm" is there although sdk-minimal has one`,
      ],
      [
        { [MINE]: 'rows:\n  - { id: a\n' },
        'INVALID_YAML',
        `%/${MINE}:3:1: Flow map in block collection must be sufficiently indented and end with a }`,
      ],
      [{ [MINE]: 'rows: []\nrows: []\n' }, 'INVALID_YAML', `%/${MINE}:2:1: Map keys must be unique`],
      [
        { [MINE]: 'extends: other', 'profiles/other/profile.yml': 'extends: mine' },
        'INVALID_PROFILE',
        `%/${MINE}: profiles extend each other: mine → other → mine`,
      ],
      [
        { [MINE]: 'extends: nope' },
        'UNKNOWN_PROFILE',
        `there is no profile "nope", which %/${MINE} extends; shipped profiles: sdk, sdk-minimal; in %/profiles: mine; to make one: dsh --profile nope --from-default-profile sdk, or dsh plugin --profile nope add PACKAGE`,
      ],
      [
        { 'patch.yml': '', [MINE]: ROWS },
        'INVALID_PATCH',
        '%/patch.yml: it is empty: write [] for a patch that changes nothing',
      ],
      [
        { 'patch.yml': '# nothing\n', [MINE]: ROWS },
        'INVALID_PATCH',
        '%/patch.yml: it is empty: write [] for a patch that changes nothing',
      ],
      [{ 'patch.yml': 'insert: []', [MINE]: ROWS }, 'INVALID_PATCH', '%/patch.yml: a patch is a list of operations'],
      [{ 'patch.yml': '- x', [MINE]: ROWS }, 'INVALID_PATCH', '%/patch.yml: operation 1 must be a mapping'],
      [
        { 'patch.yml': '- disabled: true', [MINE]: ROWS },
        'INVALID_PATCH',
        '%/patch.yml: operation 1 names no row: it needs an id, or an insert',
      ],
      [
        { 'patch.yml': '- { id: a, confg: {} }', [MINE]: ROWS },
        'INVALID_PATCH',
        '%/patch.yml: operation 1: "confg" is unknown; allowed: id, module, config, merge, disabled, optional',
      ],
      [
        { 'patch.yml': '- { id: a, merge: 1 }', [MINE]: ROWS },
        'INVALID_PATCH',
        '%/patch.yml: operation 1: merge must be a mapping',
      ],
      [
        { 'patch.yml': '- { id: a, remove: false }', [MINE]: ROWS },
        'INVALID_PATCH',
        '%/patch.yml: operation 1: remove must be true',
      ],
      [
        { 'patch.yml': '- { id: a, remove: true, config: {} }', [MINE]: ROWS },
        'INVALID_PATCH',
        '%/patch.yml: operation 1: "config" is unknown; allowed: id, module, remove',
      ],
      [
        { 'patch.yml': '- { insert: [], id: a }', [MINE]: ROWS },
        'INVALID_PATCH',
        '%/patch.yml: operation 1: "id" is unknown; allowed: insert, before, after',
      ],
      [
        { 'patch.yml': '- { insert: [], before: a, after: b }', [MINE]: ROWS },
        'INVALID_PATCH',
        '%/patch.yml: operation 1 has both before and after',
      ],
      [
        { 'patch.yml': '- { insert: { id: x } }', [MINE]: ROWS },
        'INVALID_PATCH',
        '%/patch.yml: operation 1: insert must be a list of rows',
      ],
      [
        { 'patch.yml': '- { insert: [{ id: a, module: m }] }', [MINE]: ROWS },
        'INVALID_PROFILE',
        `%/patch.yml: another row has the same id: "a" is there although %/${MINE} has one`,
      ],
    ];
    for (const [files, code, message] of broken) {
      it(`is told: ${message}`, async () => {
        for (const [name, text] of Object.entries(files)) home.write(name, text);
        const failure = await rejectionOf(load());
        expect(failure.message).to.equal(message.replaceAll('%', home.path));
        expect(failure).to.have.property('code', code);
      });
    }

    it('is a profile under a shipped name', async () => {
      const file = home.write('profiles/sdk/profile.yml', ROWS);
      expect((await rejectionOf(load('sdk'))).message).to.equal(
        `${file}: "sdk" is the name of a shipped profile: change it with ${home.path}/profiles/sdk/patch.yml, or give yours another name`,
      );
    });

    it('is a patch that is named and not there, and one that cannot be read', async () => {
      home.write(MINE, ROWS);
      expect((await rejectionOf(load('mine', ['/nowhere/p.yml']))).message).to.equal(
        'there is no patch /nowhere/p.yml',
      );
      expect((await rejectionOf(load('mine', [home.path]))).message).to.match(/ cannot be read: it is no regular file/);
    });

    it('is a patch in code', async () => {
      home.write(MINE, ROWS);
      const patch = [{ id: 'a', off: true }] as unknown as readonly PatchOperation[];
      expect((await rejectionOf(load('mine', [patch]))).message).to.contain(
        'patch 1 in code: operation 1: "off" is unknown',
      );
    });
  });
});
