import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { packageInfo } from '../../src/base/index.js';
import { builtBin, Lab } from '../support/lab.js';
import { dsh } from '../support/run-dsh.js';

describe('dsh', () => {
  describe('usage', () => {
    it('prints help and version on stdout and makes no home', async () => {
      const home = join(tmpdir(), `dsh-test-none-${process.pid}`);
      const help = await dsh(['--help'], { DSH_HOME: home });
      expect(help).to.deep.include({ code: 0, stderr: '' });
      expect(help.stdout).to.contain('--profile').and.to.contain('dsh run');
      const version = await dsh(['--version']);
      expect(version).to.deep.equal({ code: 0, stdout: `${packageInfo().version}\n`, stderr: '' });
      const profileHelp = await dsh(['--profile', 'sdk', '--help'], { DSH_HOME: home });
      expect(profileHelp).to.deep.include({ code: 0, stderr: '' });
      expect(existsSync(home)).to.equal(false);
    });

    const wrong: readonly [string, string[], RegExp][] = [
      ['no profile', [], /--profile NAME is required/],
      ['an empty profile', ['--profile', ''], /empty/],
      ['an unknown profile', ['--profile', 'nope'], /no profile "nope".*sdk, sdk-minimal/],
      ['a path as profile', ['--profile', '../x'], /not a profile name/],
      ['a reserved profile name', ['--profile', 'node_modules'], /not a profile name/],
      ['an unknown flag', ['--profile', 'sdk', '--wat'], /Unknown option '--wat'/],
      ['an argument the profile does not take', ['--profile', 'sdk', 'extra'], /unexpected argument "extra"/],
      [
        'an unknown level',
        ['--profile', 'sdk', '--log-level', 'loud'],
        /--log-level must be one of error, warn, info, debug, not "loud"/,
      ],
      [
        'a patch that is not there',
        ['--profile', 'sdk', '--patch', '/nowhere/x.yml'],
        /there is no patch \/nowhere\/x\.yml/,
      ],
      ['an empty patch name', ['--profile', 'sdk', '--patch', 'x.yml', '--patch', ''], /--patch must not be empty/],
      ['both dumps', ['--profile', 'sdk', '--dump-config', '--dump-default-config'], /exclude each other/],
      ['a dump with an argument', ['--profile', 'sdk', '--dump-config', 'extra'], /unexpected argument "extra"/],
      [
        'a patch for the default dump',
        ['--profile', 'sdk', '--dump-default-config', '--patch', 'x.yml'],
        /--dump-default-config shows no --patch/,
      ],
      [
        'an empty template',
        ['--profile', 'mine', '--from-default-profile', ''],
        /--from-default-profile must not be empty/,
      ],
      ['a profile without a name for its template', ['--from-default-profile', 'sdk'], /--profile NAME is required/],
      ['an unknown command', ['bogus'], /unknown command "bogus"/],
      ['an empty prompt', ['run', ''], /the prompt is empty/],
      ['run without a prompt', ['run'], /PROMPT/],
      ['run with two prompts', ['run', 'two', 'words'], /quote it/],
      ['an empty provider', ['run', '--provider', '', 'x'], /--provider must not be empty/],
    ];
    for (const [what, args, message] of wrong) {
      it(`refuses ${what} on stderr with exit 1 and an empty stdout`, async () => {
        const { code, stdout, stderr } = await dsh(args);
        expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
        expect(stderr).to.match(message);
      });
    }

    it('blames the variable when the level comes from it', async () => {
      const { code, stderr } = await dsh(['--profile', 'sdk'], { DSH_LOG_LEVEL: 'loud' });
      expect(code).to.equal(1);
      expect(stderr).to.contain('DSH_LOG_LEVEL must be one of error, warn, info, debug, not "loud"');
    });

    it('refuses a bad config value of the environment, naming row and key', async () => {
      const { code, stdout, stderr } = await dsh(['--profile', 'sdk-minimal'], { DSH_CONTEXT_WINDOW: 'huge' });
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
      expect(stderr).to.match(/row "llm-deepseek": defaultContextWindow/);
      expect(stderr).not.to.match(/\n\s+at /);
    });
  });

  it('dumps a profile as YAML that holds its rows in order, with their origin', async () => {
    const { code, stdout, stderr } = await dsh(['--profile', 'sdk-minimal', '--dump-config'], {
      DEEPSEEK_API_KEY: 'sk-secret',
    });
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout).to.match(/^# == sdk-minimal\n/);
    expect(stdout).not.to.contain('sk-secret');
    expect((parse(stdout) as { id: string }[]).map(({ id }) => id)).to.deep.equal([
      'sdk-jsonrpc-server',
      'llm',
      'llm-deepseek',
      'llm-offline',
      'session',
      'session-title',
      'session-persistence-jsonl',
      'agent',
      'agent-loop',
      'tools',
      'system-prompt',
      'persistent-bash',
      'tool-str-replace-editor',
    ]);
    const full = await dsh(['--profile', 'sdk', '--dump-config']);
    expect((parse(full.stdout) as object[]).slice(0, 13)).to.deep.equal(parse(stdout));
  });

  it('logs on stderr as the level says, as text or JSON lines', async () => {
    const quiet = await dsh(['--profile', 'sdk-minimal'], { DSH_HOME: tmpdir() });
    expect(quiet).to.deep.equal({ code: 0, stdout: '', stderr: '' });
    const { stderr } = await dsh(['--profile', 'sdk-minimal', '--log-level', 'info', '--log-format', 'json']);
    const lines = stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { level: string; message: string });
    expect(lines.map(({ message }) => message)).to.include('closing');
  });

  describe('run', () => {
    let lab: Lab;
    afterEach(() => lab.close());

    it('prints the answer on stdout, progress on stderr, and exits 0', async () => {
      lab = await Lab.open(
        { toolCalls: [{ name: 'bash', arguments: { command: 'echo from-shell' } }] },
        { text: 'It is done.' },
      );
      const ran = await dsh(['run', '--cwd', lab.cwd, 'do it'], lab.env);
      expect(ran).to.deep.include({ code: 0, stdout: 'It is done.\n' });
      expect(ran.stderr).to.contain('bash echo from-shell').and.to.contain('  from-shell');
    });

    it('reads the prompt from stdin when it is -, and only then (B7)', async () => {
      lab = await Lab.open({ text: 'ok' }, { text: 'ok' });
      await dsh(['run', '--cwd', lab.cwd, '-'], lab.env, 'from stdin');
      const [first] = lab.server.requests;
      expect(first?.body.messages.at(-1).content).to.equal('from stdin');
      const { code } = await dsh(['run', '--cwd', lab.cwd, 'from argv'], lab.env, 'unread');
      expect(code).to.equal(0);
    });

    it('shows the diagnostics of the runtime when asked to', async () => {
      lab = await Lab.open({ text: 'ok' });
      const { stderr } = await dsh(['run', '--log-level', 'info', '--cwd', lab.cwd, 'x'], lab.env);
      expect(stderr).to.match(/ info ready profile=sdk-minimal /);
    });

    it('ends its runtime and exits 130 when it is interrupted', async () => {
      lab = await Lab.open({ ending: 'stall' });
      const child = execFile(process.execPath, [builtBin, 'run', '--cwd', lab.cwd, 'x'], { env: lab.env });
      await lab.server.request(0);
      child.kill('SIGINT');
      const code = await new Promise((resolve) => child.once('exit', resolve));
      expect(code).to.equal(130);
    });

    it('exits 1 and says why when the model refuses', async () => {
      lab = await Lab.open({ status: 401, body: { error: { message: 'bad key' } } });
      const ran = await dsh(['run', '--cwd', lab.cwd, 'x'], lab.env);
      expect(ran.code).to.equal(1);
      expect(ran.stderr).to.contain('bad key').and.to.contain('AUTH');
    });

    it('fails without a key instead of answering from the offline model (decision 26)', async () => {
      lab = await Lab.open();
      const ran = await dsh(['run', '--cwd', lab.cwd, 'x'], { ...lab.env, DEEPSEEK_API_KEY: '' });
      expect(ran).to.deep.include({ code: 1, stdout: '' });
      expect(ran.stderr).to.contain('MISSING_CREDENTIAL').and.to.contain('DEEPSEEK_API_KEY');
    });

    it('runs the offline models', async () => {
      lab = await Lab.open();
      const directory = await mkdtemp(join(tmpdir(), 'dsh-test-script-'));
      try {
        const script = join(directory, 'answers.yml');
        await writeFile(script, '- text: scripted\n');
        const scripted = await dsh(
          ['run', '--provider', 'offline', '--model', `script:${script}`, '--cwd', lab.cwd, 'x'],
          lab.env,
        );
        expect(scripted).to.deep.include({ code: 0, stdout: 'scripted\n' });
        const demo = await dsh(
          ['run', '--provider', 'offline', '--model', 'demo', '--cwd', lab.cwd, 'say cheese'],
          lab.env,
        );
        expect(demo.code).to.equal(0);
        expect(demo.stdout).to.contain('say cheese').and.to.contain(lab.cwd);
      } finally {
        await rm(directory, { recursive: true });
      }
    });
  });
});
