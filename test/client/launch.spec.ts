import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { type HarnessClientOptions, scrubbedParentEnv } from '../../src/client/index.js';
import { planLaunch } from '../../src/client/launch.js';

describe('launch', () => {
  let directory: string;
  let script: string;
  let program: string;
  let plain: string;

  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'dsh-launch-'));
    [script, program, plain] = [join(directory, 'dsh.mjs'), join(directory, 'dsh'), join(directory, 'plain')];
    for (const path of [script, program, plain]) writeFileSync(path, '#!/bin/sh\n');
    chmodSync(program, 0o755);
    chmodSync(plain, 0o644);
    mkdirSync(join(directory, 'dir.js'));
  });
  after(() => rmSync(directory, { recursive: true, force: true }));

  it('runs a script under this Node and executes anything else', () => {
    expect(planLaunch({ dshBin: script })).to.include({ command: process.execPath, label: 'dsh profile "sdk"' });
    expect(planLaunch({ dshBin: script }).args).to.deep.equal([script, '--profile', 'sdk']);
    expect(planLaunch({ dshBin: program }).command).to.equal(program);
    expect(planLaunch({ dshBin: program }).args).to.deep.equal(['--profile', 'sdk']);
  });

  it('names profile and absolute patches, in order', () => {
    const { args, label } = planLaunch({ dshBin: program, profile: 'mine', patches: ['b.yml', '/etc/a.yml'] });
    expect(args).to.deep.equal(['--profile', 'mine', '--patch', resolve('b.yml'), '--patch', '/etc/a.yml']);
    expect(label).to.equal('dsh profile "mine"');
  });

  it("defaults to this package's own bin", () => {
    const root = fileURLToPath(new URL('../../../', import.meta.url));
    const { bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { bin: { dsh: string } };
    const run = () => planLaunch({}).args[0];
    // The bin need not be built for this: its place is in the plan, or in the complaint.
    let place: string | undefined;
    try {
      place = run();
    } catch (thrown) {
      place = (thrown as Error).message.replace('dshBin does not exist: ', '');
    }
    expect(place).to.equal(join(root, bin.dsh));
  });

  it('passes a command of the caller through, and looks a bare name up on PATH', () => {
    const plan = planLaunch({ launch: { command: 'node', args: ['x', '--y'] } });
    expect(plan).to.include({ command: 'node', label: undefined });
    expect(plan.args).to.deep.equal(['x', '--y']);
    expect(planLaunch({ launch: { command: program } }).args).to.deep.equal([]);
  });

  it('sets DSH_HOME only when it is given', () => {
    const env = { A: '1', DSH_HOME: '/inherited' };
    expect(planLaunch({ dshBin: program, env }).env).to.deep.equal(env);
    expect(planLaunch({ dshBin: program, env: {} }).env).to.deep.equal({});
    expect(planLaunch({ dshBin: program, env, dshHome: 'home' }).env).to.deep.equal({
      A: '1',
      DSH_HOME: resolve('home'),
    });
    expect(planLaunch({ dshBin: program, dshHome: '~/h' }).env.DSH_HOME).to.equal(join(homedir(), 'h'));
  });

  it('inherits the environment as it is at the spawn', () => {
    const options: HarnessClientOptions = { dshBin: program };
    process.env.LAUNCH_SPEC_LATE = 'yes';
    try {
      expect(planLaunch(options).env.LAUNCH_SPEC_LATE).to.equal('yes');
    } finally {
      delete process.env.LAUNCH_SPEC_LATE;
    }
  });

  const complaints: readonly [string, () => HarnessClientOptions, RegExp][] = [
    ['a missing dshBin', () => ({ dshBin: join(directory, 'none') }), /^dshBin does not exist: .*none$/],
    ['a path through a file', () => ({ dshBin: join(plain, 'x') }), /^dshBin does not exist: /],
    ['a directory as dshBin', () => ({ dshBin: join(directory, 'dir.js') }), /^dshBin is a directory: /],
    ['a dshBin without x', () => ({ dshBin: plain }), /^dshBin is not executable: .*plain$/],
    ['a missing command', () => ({ launch: { command: './none' } }), /^launch\.command does not exist: .*none$/],
    ['a directory as command', () => ({ launch: { command: directory } }), /^launch\.command is a directory: /],
    ['a missing processCwd', () => ({ processCwd: '/nope' }), /^processCwd does not exist: \/nope$/],
    ['a file as processCwd', () => ({ processCwd: plain }), /^processCwd is not a directory: .*plain$/],
  ];
  for (const [what, options, message] of complaints) {
    it(`complains of ${what} before anything is started (B8)`, () => {
      expect(() => planLaunch(options())).to.throw(Error, message);
    });
  }

  it('scrubs variables that look like credentials, whatever their case', () => {
    const secrets = [
      'DEEPSEEK_API_KEY',
      'github_token',
      'My_Secret',
      'DB_PASSWORD',
      'GOOGLE_CREDENTIALS',
      'DSH_RUNTIME_MARKER',
    ];
    for (const name of secrets) process.env[name] = 'x';
    process.env.LAUNCH_SPEC_PLAIN = 'kept';
    try {
      const env = scrubbedParentEnv();
      expect(env).to.include({ LAUNCH_SPEC_PLAIN: 'kept', PATH: process.env.PATH });
      expect(Object.keys(env).filter((name) => secrets.includes(name))).to.deep.equal([]);
    } finally {
      for (const name of [...secrets, 'LAUNCH_SPEC_PLAIN']) delete process.env[name];
    }
  });
});
