import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { parse } from 'yaml';
import { packageInfo } from '../../src/base/index.js';
import { seenFrom } from '../../src/cli/plugin/package-specs.js';
import { PluginRows } from '../../src/cli/plugin/plugin-rows.js';
import { DeepSeekHarness } from '../../src/client/index.js';
import { useHome } from '../support/home.js';
import { rejectionOf } from '../support/rejection-of.js';
import { dsh, type Ran } from '../support/run-dsh.js';
import { runs } from '../support/runs.js';

const run = promisify(execFile);

describe('dsh plugin', () => {
  const dir = useHome();
  const home = (): string => join(dir.path, 'home');
  const plugin = (...args: string[]): Promise<Ran> => dsh(['plugin', ...args], { DSH_HOME: home() });
  const patch = (): string => join(home(), 'profiles', 'mine', 'patch.yml');

  /** The example as `npm pack` makes it. @returns the tarball */
  async function packed(): Promise<string> {
    const example = join(packageInfo().root, 'examples', 'plugin-tool');
    const { stdout } = await run('npm', ['pack', '--pack-destination', dir.path], { cwd: example });
    return join(dir.path, stdout.trim());
  }

  it('installs a packed plugin into a fresh home, where it works over the wire, and takes it out again', async function () {
    this.timeout(60_000);
    const added = await plugin('--profile', 'mine', 'add', await packed());
    expect(added).to.include({ code: 0 });
    expect(added.stdout).to.contain(`row "glossary" added to ${patch()}\n`);
    expect(parse(readFileSync(patch(), 'utf8'))).to.deep.equal([
      { insert: [{ id: 'glossary', module: 'dsh-plugin-glossary' }] },
    ]);
    const { stdout: listed } = await plugin('--profile', 'mine', 'list');
    expect(listed).to.match(/^PACKAGE +VERSION +ROW +SPEC\ndsh-plugin-glossary +1\.0\.0 +glossary +file:/);

    dir.write('home/patch.yml', '- { id: glossary, merge: { terms: { Lease: who writes } } }\n');
    const { stdout: dump } = await dsh(['--profile', 'mine', '--dump-config'], { DSH_HOME: home() });
    expect(dump).to.contain(`# == ${patch()}, patched by ${join(home(), 'patch.yml')}\n- id: glossary\n`);

    const script = dir.write(
      'script.yml',
      '- toolCalls: [{ name: glossary, arguments: { term: lease } }]\n- when: { lastMessageIncludes: who writes }\n  text: found\n- text: lost\n',
    );
    const harness = new DeepSeekHarness({
      profile: 'mine',
      dshHome: home(),
      cwd: dir.path,
      provider: 'offline',
      model: `script:${script}`,
    });
    try {
      expect((await harness.run('go')).finalResponse).to.equal('found');
    } finally {
      await harness.close();
    }

    const again = await plugin('--profile', 'mine', 'add', 'dsh-plugin-glossary');
    expect(again.code).to.equal(0);
    expect(parse(readFileSync(patch(), 'utf8'))).to.have.lengthOf(1);
    const removed = await plugin('--profile', 'mine', 'remove', 'dsh-plugin-glossary');
    expect(removed).to.include({ code: 0 });
    expect(removed.stdout).to.contain('row "glossary" removed');
    expect(parse(readFileSync(patch(), 'utf8'))).to.deep.equal([]);
    expect((await plugin('--profile', 'mine', 'list')).stdout).to.equal('no plugins\n');
    expect(existsSync(join(home(), 'profiles', 'mine', 'node_modules', 'dsh-plugin-glossary'))).to.equal(false);
  });

  it('exits as npm does, and leaves the rows as they were', async function () {
    this.timeout(60_000);
    const { code, stderr } = await plugin('--profile', 'mine', 'add', `${dir.path}/none.tgz`);
    expect(code).to.be.greaterThan(0);
    expect(stderr).to.contain(`dsh: npm failed in ${join(home(), 'profiles', 'mine')}`);
    expect(existsSync(patch())).to.equal(false);
  });

  it('exits 127 with advice where there is no npm', async () => {
    const { code, stderr } = await dsh(['plugin', '--profile', 'sdk', 'add', 'x'], {
      DSH_HOME: home(),
      PATH: '/nowhere',
    });
    expect(code).to.equal(127);
    expect(stderr).to.equal(
      'dsh: npm is not on PATH; it comes with Node.js: install it, or add its directory to PATH\n',
    );
  });

  const wrong: readonly (readonly [args: string[], message: string])[] = [
    [[], 'a command is required: add, remove, list'],
    [['get', 'x'], 'unknown command "get": add, remove, list'],
    [['add', 'x'], '--profile NAME is required'],
    [['--profile', 'sdk', 'add'], 'dsh plugin add needs a package'],
    [['--profile', 'sdk', 'add', ' '], 'a package must not be empty'],
    [['--profile', 'sdk', 'list', 'x'], 'dsh plugin list takes no package'],
    [['--profile', '', 'list'], '--profile must not be empty'],
    [['--profile', '../x', 'list'], '"../x" is not a profile name'],
    [['--wat'], "Unknown option '--wat'"],
  ];
  for (const [args, message] of wrong) {
    it(`refuses ${JSON.stringify(args.join(' '))}`, async () => {
      const { code, stdout, stderr } = await plugin(...args);
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
      expect(stderr.split('\n')[0]).to.equal(`dsh: ${message}`);
      expect(existsSync(home())).to.equal(false);
    });
  }

  it('does not make a profile to look at, and names what can be removed', async () => {
    expect((await plugin('--profile', 'mine', 'list')).stderr).to.contain('there is no profile "mine"');
    expect(existsSync(home())).to.equal(false);
    const { code, stderr } = await plugin('--profile', 'sdk', 'remove', 'x');
    expect(code).to.equal(1);
    expect(stderr).to.match(/"x" is not installed in .*\/profiles\/sdk; installed: nothing/);
  });

  it('refuses before npm runs when the patch or the manifest is broken', async () => {
    const broken = dir.write('home/profiles/mine/profile.yml', 'extends: sdk\nrows: []\n');
    dir.write('home/profiles/mine/patch.yml', '- {');
    expect((await plugin('--profile', 'mine', 'add', 'x')).stderr).to.contain('patch.yml:1:4: ');
    dir.write('home/profiles/mine/patch.yml', '[]');
    dir.write('home/profiles/mine/package.json', '[]');
    expect((await plugin('--profile', 'mine', 'add', 'x')).stderr).to.contain(
      'package.json cannot be used: it holds no JSON object',
    );
    expect(readdirSync(join(broken, '..')).sort()).to.deep.equal([
      '.npmrc',
      'package.json',
      'patch.yml',
      'profile.yml',
    ]);
  });

  it('prints its help', async () => {
    const { code, stdout } = await plugin('--help');
    expect(code).to.equal(0);
    expect(stdout).to.match(/^Usage: dsh plugin --profile NAME add SPEC/);
  });
});

describe('seenFrom', () => {
  const cases: readonly (readonly [spec: string, seen: string])[] = [
    ['.', '/a/b'],
    ['..', '/a'],
    ['./x', '/a/b/x'],
    ['../x.tgz', '/a/x.tgz'],
    ['file:./x', 'file:/a/b/x'],
    ['link:../x', 'link:/a/x'],
    ['name', 'name'],
    ['@me/name@1', '@me/name@1'],
    ['.hidden', '.hidden'],
    ['/abs/x', '/abs/x'],
    ['git+https://host/x', 'git+https://host/x'],
  ];
  for (const [spec, seen] of cases) {
    it(`sees ${spec} as ${seen}`, () => expect(seenFrom('/a/b', spec)).to.equal(seen));
  }
});

describe('PluginRows', () => {
  const dir = useHome();

  it('keeps comments, order and what else a patch says', async () => {
    const file = dir.write(
      'patch.yml',
      '# mine\n- { id: llm, merge: { a: 1 } } # keep\n- insert:\n    # first\n    - { id: a, module: one }\n    - { id: b, module: two }\n',
    );
    const rows = await PluginRows.open(file);
    rows.remove('one');
    rows.add({ id: 'c', module: 'three' });
    await rows.save();
    const text = readFileSync(file, 'utf8');
    expect(text).to.contain('# mine').and.to.contain('# keep');
    expect(parse(text)).to.deep.equal([
      { id: 'llm', merge: { a: 1 } },
      { insert: [{ id: 'b', module: 'two' }] },
      { insert: [{ id: 'c', module: 'three' }] },
    ]);
    expect(readdirSync(dir.path)).to.deep.equal(['patch.yml']);
  });

  it('is refused when the file is no list', async () => {
    for (const text of ['a: 1', '- {']) {
      const failure = await rejectionOf(PluginRows.open(dir.write('patch.yml', text)));
      expect(failure).to.have.property('code', 'INVALID_PATCH');
    }
  });

  it('gives back what was put in, and nothing of what was taken out', async () => {
    const name = fc.constantFrom('a', 'b', '@s/c', 'd: e', '#f', '- g');
    const steps = fc.array(fc.record({ add: fc.boolean(), name }), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(steps, async (todo) => {
        const file = dir.write('patch.yml', '');
        const expected: string[] = [];
        for (const step of todo) {
          const rows = await PluginRows.open(file);
          if (step.add) expected.push(step.name);
          else expected.splice(0, expected.length, ...expected.filter((one) => one !== step.name));
          if (step.add) rows.add({ id: step.name, module: step.name });
          else rows.remove(step.name);
          await rows.save();
        }
        expect((await PluginRows.open(file)).list().map(({ module }) => module)).to.deep.equal(expected);
      }),
      runs(60),
    );
  });
});
