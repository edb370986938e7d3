import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { parse } from 'yaml';
import { packageInfo } from '../../src/base/index.js';
import { DeepSeekHarness } from '../../src/client/index.js';
import { useHome } from '../support/home.js';
import { builtBin, Lab } from '../support/lab.js';
import { rejectionOf } from '../support/rejection-of.js';
import { dsh, type Ran } from '../support/run-dsh.js';

describe('dsh with profiles', () => {
  const dir = useHome();
  const home = (): string => join(dir.path, 'home');
  const run = (...args: string[]): Promise<Ran> => dsh(args, { DSH_HOME: home() });

  it('makes a profile from a template once, and boots or dumps it', async () => {
    const first = await run('--profile', 'mine', '--from-default-profile', 'sdk-minimal', '--dump-config');
    expect(first).to.include({ code: 0, stderr: '' });
    expect((parse(first.stdout) as object[]).length).to.be.greaterThan(10);
    const booted = await run('--profile', 'mine');
    expect(booted).to.deep.equal({ code: 0, stdout: '', stderr: '' });
    const again = await run('--profile', 'mine', '--from-default-profile', 'sdk');
    expect(again).to.include({ code: 1, stdout: '' });
    expect(again.stderr).to.contain('there is a profile "mine" already');
  });

  it('touches nothing of the home by itself', async () => {
    expect(await run('--profile', 'sdk', '--dump-config')).to.include({ code: 0 });
    expect(existsSync(home())).to.equal(false);
  });

  it('dumps as before, byte for byte, when a patch is taken away again', async () => {
    const before = await run('--profile', 'sdk', '--dump-config');
    const file = dir.write('home/patch.yml', '- { id: llm-deepseek, config: {} }\n- { id: llm, remove: true }\n');
    expect((await run('--profile', 'sdk', '--dump-config')).stdout).not.to.equal(before.stdout);
    rmSync(file);
    expect(await run('--profile', 'sdk', '--dump-config')).to.deep.equal(before);
  });

  it('takes what a command prints as a patch', async () => {
    const script = `exec "$0" "$1" --profile sdk --dump-config --patch <(echo '- { id: llm, disabled: true }')`;
    const { stdout } = await promisify(execFile)('bash', ['-c', script, process.execPath, builtBin]);
    expect((parse(stdout) as { id: string; disabled?: boolean }[]).find(({ id }) => id === 'llm')?.disabled).to.equal(
      true,
    );
  });

  it('ends when it is told to while it waits for a patch that never comes', async () => {
    const pipe = join(dir.path, 'p.yml');
    execFileSync('mkfifo', [pipe]);
    const lab = await Lab.open();
    execFileSync('mkfifo', [join(lab.home, '.env')]);
    try {
      const runtime = lab.raw({ args: ['--profile', 'sdk-minimal', '--patch', pipe] });
      // Told right before the profile is loaded.
      while (!runtime.stderr.includes('.env cannot be read')) await runtime.change();
      runtime.child.kill('SIGTERM');
      expect((await runtime.ended).signal).to.be.oneOf([null, 'SIGKILL']);
    } finally {
      await lab.close();
    }
  });

  it('tells of skipped patches on stderr, and dumps a clean document', async () => {
    const file = dir.write('p.yml', '- { id: nothing, disabled: true }\n');
    const { code, stdout, stderr } = await run('--profile', 'sdk', '--dump-config', '--patch', file);
    expect(code).to.equal(0);
    expect(stderr).to.equal(`dsh: ${file}: operation 1 is skipped: there is no row "nothing"\n`);
    parse(stdout);
  });

  it('dumps the default although a patch is broken', async () => {
    dir.write('home/patch.yml', '- {');
    const broken = await run('--profile', 'sdk', '--dump-config');
    expect(broken).to.include({ code: 1, stdout: '' });
    expect(broken.stderr).to.contain(`${home()}/patch.yml:1:4: `);
    expect(await run('--profile', 'sdk', '--dump-default-config')).to.include({ code: 0, stderr: '' });
  });

  it('applies patches in the order they are given, relative to the current directory', async () => {
    const [one, two] = ['one', 'two'].map((word) =>
      dir.write(`${word}.yml`, `- { id: system-prompt, merge: { personaPrefix: ${word} } }\n`),
    );
    for (const [patches, word] of [
      [[one, two], 'two'],
      [[two, one], 'one'],
    ] as const) {
      const args = patches.flatMap((patch) => ['--patch', patch ?? '']);
      const { stdout } = await run('--profile', 'sdk', '--dump-config', ...args);
      const row = (parse(stdout) as { id: string; config?: object }[]).find(({ id }) => id === 'system-prompt');
      expect(row?.config).to.deep.equal({ personaPrefix: word });
    }
  });

  it('names file, row, key and what is allowed when a config is wrong, and exits 1', async () => {
    const file = dir.write(
      'p.yml',
      '- { id: agent-loop, merge: { turbo: true } }\n- { id: llm-deepseek, merge: { maxTokens: many } }\n',
    );
    const { code, stdout, stderr } = await run('--profile', 'sdk', '--patch', file);
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
    expect(stderr).to.contain(`${file}: row "agent-loop": turbo: is unknown; allowed: maxParallelToolCalls`);
    expect(stderr).to.match(/p\.yml: row "llm-deepseek": maxTokens: maxTokens must be /);
  });

  it('names the file whose reference is not set', async () => {
    const file = dir.write('p.yml', '- { id: system-prompt, merge: { personaPrefix: "${env:NOBODY_SETS_IT}" } }\n');
    expect((await run('--profile', 'sdk', '--patch', file)).stderr).to.contain(
      `${file}: row "system-prompt": personaPrefix: the environment variable NOBODY_SETS_IT is not set and has no default`,
    );
  });

  it('exits 1 with the row when a plugin is broken, and shows no stack', async () => {
    dir.write('x.mjs', 'throw new Error("broke");');
    const file = dir.write('p.yml', '- insert: [{ id: x, module: ./x.mjs }]\n');
    const { code, stdout, stderr } = await run('--profile', 'sdk', '--patch', file);
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
    expect(stderr)
      .to.contain(`row "x": ${dir.path}/x.mjs cannot be imported: broke`)
      .and.not.to.match(/\n\s+at /);
  });

  describe('.env files', () => {
    let lab: Lab;
    afterEach(() => lab.close());

    it('give what the environment lacks, to the runtime and its config', async () => {
      lab = await Lab.open({ text: 'ok' });
      const { DEEPSEEK_API_KEY: _, ...env } = lab.env;
      dir.write('.env', 'DEEPSEEK_API_KEY=sk-of-the-project\nPERSONA=You are of the project.\n');
      const patch = dir.write('p.yml', '- { id: system-prompt, merge: { personaPrefix: "${env:PERSONA}" } }\n');
      const at = process.cwd();
      process.chdir(dir.path);
      try {
        const ran = await dsh(['run', '--patch', patch, '--cwd', lab.cwd, 'hi'], env);
        expect(ran).to.include({ code: 0, stdout: 'ok\n' });
      } finally {
        process.chdir(at);
      }
      const [request] = lab.server.requests;
      expect(request?.headers.authorization).to.equal('Bearer sk-of-the-project');
      expect(JSON.stringify(request?.body.messages[0])).to.contain('You are of the project.');
    });

    it('that set what they must not end the start', async () => {
      lab = await Lab.open();
      const file = dir.write('home/.env', 'DSH_LOG_LEVEL=debug\n');
      const { code, stdout, stderr } = await run('--profile', 'sdk');
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
      expect(stderr).to.contain(`dsh: ${file} must not set DSH_LOG_LEVEL`);
    });
  });

  it('takes the patch that the documentation shows', async () => {
    const page = readFileSync(join(packageInfo().root, 'docs', 'profiles.md'), 'utf8');
    const [, patch = ''] = /```yaml\n(- insert:[\s\S]*?)```/.exec(page) ?? [];
    const file = dir.write('p.yml', patch);
    const { code, stdout, stderr } = await run('--profile', 'sdk', '--patch', file, '--dump-config');
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    const rows = parse(stdout) as { id: string; disabled?: boolean }[];
    const ids = rows.map(({ id }) => id);
    expect(ids.indexOf('weather')).to.equal(ids.indexOf('llm-offline') + 1);
    expect(ids).not.to.include('tool-str-replace-editor');
    expect(rows.find(({ id }) => id === 'persistent-bash')?.disabled).to.equal(true);
  });

  it('traces every frame of both sides, and no key', async () => {
    const lab = await Lab.open({ text: 'The key is sk-test-key.' });
    try {
      const [client, runtime] = ['client.jsonl', 'runtime.jsonl'].map((name) => join(dir.path, name));
      const launched = new DeepSeekHarness({ ...lab.options, trace: client ?? '' });
      await launched.run('hi', { sessionId: 's' });
      await launched.close();
      const raw = lab.raw({ args: ['--profile', 'sdk-minimal', '--trace', runtime ?? ''] });
      await raw.request('initialize', { cwd: lab.cwd, provider: 'offline', model: 'demo' });
      await raw.prompt('t', 'hi');
      await raw.idle('t');
      await raw.request('shutdown');
      await raw.ended;
      for (const [file, asks] of [
        [client, 'out'],
        [runtime, 'in'],
      ] as const) {
        const text = readFileSync(file ?? '', 'utf8');
        const frames = text
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line));
        const methods = frames.flatMap(({ direction, frame }) =>
          direction === asks && frame.method ? [frame.method] : [],
        );
        expect(methods).to.deep.equal(['initialize', 'session/prompt', 'shutdown']);
        expect(frames.some(({ frame }) => frame.method === 'session.event')).to.equal(true);
        expect(frames.filter(({ frame }) => frame.result !== undefined)).to.have.lengthOf(3);
        expect(text).not.to.contain('sk-test-key');
      }
      expect(readFileSync(client ?? '', 'utf8')).to.contain('[redacted]');
    } finally {
      await lab.close();
    }
  });

  it('that cannot trace does not start', async () => {
    const { code, stderr } = await run('--profile', 'sdk', '--trace', '/nowhere/trace');
    expect(code).to.equal(1);
    expect(stderr).to.match(/^dsh: the trace \/nowhere\/trace cannot be written: ENOENT/);
    const harness = new DeepSeekHarness({ trace: '/nowhere/trace' });
    expect((await rejectionOf(harness.start())).message).to.contain('the trace /nowhere/trace cannot be written');
    await harness.close();
  });

  it('ends with one line and exit 1 when a plugin leaves a rejection unhandled', async () => {
    dir.write(
      'x.mjs',
      `import { ContainerModule } from 'inversify';
       import { definePlugin, Startable } from 'dsh-inversify/plugin';
       export default definePlugin({ name: 'x', runtime: new ContainerModule(({ bind }) => {
         bind(Startable).toConstantValue({ name: 'x', ready() { setTimeout(() => Promise.reject(new Error('left alone')), 10); setInterval(() => {}, 1000); } });
       }) });`,
    );
    const patch = dir.write('p.yml', '- insert: [{ id: x, module: ./x.mjs }]\n');
    const lab = await Lab.open();
    try {
      const runtime = lab.raw({ args: ['--profile', 'sdk-minimal', '--patch', patch] });
      expect(await runtime.ended).to.deep.equal({ code: 1, signal: null });
      expect(runtime.stderr.match(/left alone/g)).to.have.lengthOf(1);
      expect(runtime.stderr).to.match(/^dsh: unhandledRejection: Error: left alone/);
    } finally {
      await lab.close();
    }
  });

  it('keeps stdout to frames when a plugin prints, on import, in a tool and later', async () => {
    dir.write(
      'x.mjs',
      `import { ContainerModule } from 'inversify';
       import { definePlugin, Tool } from 'dsh-inversify/plugin';
       console.log('noise on import');
       process.stdout.write('more noise');
       export default definePlugin({ name: 'x', runtime: new ContainerModule(({ bind }) => {
         console.log('noise while binding');
         bind(Tool).toConstantValue({ name: 'noisy', description: 'x', parameters: { type: 'object' },
           execute() { console.log('noise in a tool'); setTimeout(() => process.stdout.write('late noise'), 1); return 'ok'; } });
       }) });`,
    );
    const patch = dir.write('p.yml', '- insert: [{ id: x, module: ./x.mjs }]\n');
    const lab = await Lab.open({ toolCalls: [{ name: 'noisy', arguments: {} }] }, { text: 'done' });
    try {
      const runtime = lab.raw({ args: ['--profile', 'sdk-minimal', '--patch', patch] });
      await runtime.request('initialize', { cwd: lab.cwd, provider: 'deepseek-official', model: 'deepseek-v4-flash' });
      await runtime.prompt('s', 'go');
      await runtime.idle('s');
      await runtime.request('shutdown');
      expect(await runtime.ended).to.include({ code: 0 });
      expect(runtime.junk).to.deep.equal([]);
      for (const noise of ['noise on import', 'noise while binding', 'noise in a tool']) {
        expect(runtime.stderr).to.contain(noise);
      }
    } finally {
      await lab.close();
    }
  });

  it('exits 1 within its budget after an unhandled rejection, although a teardown hangs', async () => {
    dir.write(
      'x.mjs',
      `import { ContainerModule } from 'inversify';
       import { CurrentScope, definePlugin, Startable } from 'dsh-inversify/plugin';
       export default definePlugin({ name: 'x', runtime: new ContainerModule(({ bind }) => {
         bind(Startable).toResolvedValue((scope) => {
           scope.defer('part that hangs', () => new Promise(() => {}));
           return { name: 'x', ready() { setTimeout(() => Promise.reject(new Error('left alone')), 10); } };
         }, [CurrentScope]);
       }) });`,
    );
    const patch = dir.write('p.yml', '- insert: [{ id: x, module: ./x.mjs }]\n');
    const lab = await Lab.open();
    try {
      const runtime = lab.raw({ args: ['--profile', 'sdk-minimal', '--patch', patch] });
      expect(await runtime.ended).to.deep.equal({ code: 1, signal: null });
      expect(runtime.stderr).to.contain('dsh: shutdown took longer than 2000 ms, waiting for: part that hangs');
    } finally {
      await lab.close();
    }
  });

  const stuck: readonly (readonly [what: string, text: string])[] = [
    [
      'an import that never ends',
      "setInterval(() => {}, 1_000); process.stderr.write('stuck\\n'); await new Promise(() => {});",
    ],
    [
      'a start that never ends',
      `import { ContainerModule } from 'inversify';
       import { definePlugin, CurrentScope, Startable } from 'dsh-inversify/plugin';
       export default definePlugin({ name: 'x', runtime: new ContainerModule(({ bind }) => {
         bind(Startable).toResolvedValue((scope) => {
           scope.defer('part', () => { process.stderr.write('undone\\n'); });
           return { name: 'x', start: () => { setInterval(() => {}, 1_000); process.stderr.write('stuck\\n'); return new Promise(() => {}); } };
         }, [CurrentScope]);
       }) });`,
    ],
  ];
  for (const [what, text] of stuck) {
    for (const [signal, code] of [
      ['SIGTERM', 0],
      ['SIGINT', 130],
    ] as const) {
      it(`ends with ${code} on ${signal} during ${what}, and undoes what there is`, async () => {
        dir.write('x.mjs', text);
        const patch = dir.write('p.yml', '- insert: [{ id: x, module: ./x.mjs }]\n');
        const lab = await Lab.open();
        try {
          const runtime = lab.raw({ args: ['--profile', 'sdk-minimal', '--patch', patch] });
          while (!runtime.stderr.includes('stuck')) await runtime.change();
          runtime.child.kill(signal);
          expect(await runtime.ended).to.deep.equal({ code, signal: null });
          expect(runtime.stderr).to.equal(text.includes('undone') ? 'stuck\nundone\n' : 'stuck\n');
        } finally {
          await lab.close();
        }
      });
    }
  }

  it('says so, and exits 1, when nothing is left that could end the start', async () => {
    dir.write('x.mjs', 'await new Promise(() => {});');
    const patch = dir.write('p.yml', '- insert: [{ id: x, module: ./x.mjs }]\n');
    expect(await run('--profile', 'sdk', '--patch', patch)).to.deep.equal({
      code: 1,
      stdout: '',
      stderr: 'dsh: the start cannot go on: what row "x" waits for never comes\n',
    });
  });

  it('waits with the answer to initialize until a slow plugin is ready', async () => {
    dir.write(
      'x.mjs',
      `import { existsSync } from 'node:fs';
       import { ContainerModule } from 'inversify';
       import { definePlugin, Startable } from 'dsh-inversify/plugin';
       export default definePlugin({ name: 'x', runtime: new ContainerModule(({ bind }) => {
         bind(Startable).toConstantValue({ name: 'x', async start() {
           process.stderr.write('starting\\n');
           while (!existsSync(${JSON.stringify(join(dir.path, 'go'))})) await new Promise((resolve) => setTimeout(resolve, 5));
         } });
       }) });`,
    );
    const patch = dir.write('p.yml', '- insert: [{ id: x, module: ./x.mjs }]\n');
    const lab = await Lab.open();
    try {
      const runtime = lab.raw({ args: ['--profile', 'sdk-minimal', '--patch', patch] });
      const params = { cwd: lab.cwd, provider: 'offline', model: 'demo' };
      let answered = false;
      const answer = runtime.request('initialize', params).then(() => {
        answered = true;
      });
      while (!runtime.stderr.includes('starting')) await runtime.change();
      expect(answered).to.equal(false);
      dir.write('go', '');
      await answer;
    } finally {
      await lab.close();
    }
  });
});
