import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'chai';
import { DeepSeekHarness, HarnessClient, type HarnessClientOptions } from '../../src/client/index.js';
import { TemporaryPatch } from '../../src/client/temporary-patch.js';
import { Lab } from '../support/lab.js';
import { commandsWith } from '../support/process-table.js';
import { eventually } from '../support/processes.js';
import { rejectionOf } from '../support/rejection-of.js';

describe('TemporaryPatch', () => {
  it('says what the options ask for, to its owner only, until it is removed', () => {
    const patch = TemporaryPatch.of({ systemPrompt: 'You ${env:HOME}.', tools: { allow: ['bash'], deny: [] } });
    const path = patch?.path ?? '';
    expect(JSON.parse(readFileSync(path, 'utf8'))).to.deep.equal([
      { id: 'system-prompt', merge: { personaPrefix: 'You $${env:HOME}.' } },
      { id: 'tools', merge: { allow: ['bash'], deny: [] } },
    ]);
    expect(statSync(path).mode & 0o777).to.equal(0o600);
    expect(statSync(dirname(path)).mode & 0o777).to.equal(0o700);
    patch?.remove();
    patch?.remove();
    expect(existsSync(dirname(path))).to.equal(false);
  });

  it('is none when nothing is asked for', () => {
    expect(TemporaryPatch.of({ profile: 'sdk', patches: ['x'] })).to.equal(undefined);
  });

  const wrong: readonly (readonly [options: object, message: string])[] = [
    [{ systemPrompt: 7 }, 'options.systemPrompt must be a string; got 7'],
    [{ tools: { allow: 'bash' } }, 'options.tools.allow must be an array of tool names; got "bash"'],
    [{ tools: { only: [] } }, 'options.tools.only is unknown: there is no such option'],
    [
      { tools: {}, launch: { command: 'x' } },
      'options.launch cannot be combined with tools: it replaces the whole command',
    ],
  ];
  for (const [options, message] of wrong) {
    it(`refuses ${JSON.stringify(options)}`, () => {
      expect(() => new HarnessClient(options as HarnessClientOptions)).to.throw(TypeError, message);
    });
  }

  describe('in a runtime', () => {
    let lab: Lab;
    afterEach(() => lab.close());
    /** The patches that runtimes of the lab were started with. */
    const patchesInUse = (): string[] => commandLines().flatMap((line) => /\S+dsh-patch-\S+/.exec(line)?.[0] ?? []);
    const commandLines = (): string[] =>
      commandsWith('dsh-patch-').map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' '));

    it('reaches the model, and is gone when the runtime is', async () => {
      lab = await Lab.open({ text: 'ok' });
      const harness = lab.harness({ systemPrompt: 'You are ${env:HOME} of {{model}}.', tools: { deny: ['bash'] } });
      await harness.run('hi');
      const [patch = ''] = patchesInUse();
      expect(existsSync(patch)).to.equal(true);
      const [request] = lab.server.requests;
      expect(request?.body.messages[0].content).to.match(/^You are \$\{env:HOME\} of deepseek-v4-flash\.\n/);
      expect(request?.body.tools.map((tool: { function: { name: string } }) => tool.function.name)).to.deep.equal([
        'str_replace_editor',
      ]);
      await harness.close();
      expect(existsSync(dirname(patch))).to.equal(false);
    });

    it('is gone after the runtime was killed', async () => {
      lab = await Lab.open();
      const harness = lab.harness({ systemPrompt: 'x' });
      await harness.start();
      const [patch = ''] = patchesInUse();
      for (const pid of commandsWith(patch)) process.kill(pid, 'SIGKILL');
      await eventually(() => !existsSync(dirname(patch)));
    });

    it('with a template that no turn could fill fails the start, and is gone', async () => {
      lab = await Lab.open();
      const harness = lab.harness({ systemPrompt: 'You are {{who}}.' });
      const failure = await rejectionOf(harness.start());
      expect(failure.message).to.contain('personaPrefix: {{who}} is not known: there are provider, model, cwd');
      const [, path = ''] = /(\S+dsh-patch-\S+?): /.exec(failure.message) ?? [];
      expect(existsSync(path)).to.equal(false);
      await harness.close();
    });

    it('is not left behind when there is nothing to start', async () => {
      lab = await Lab.open();
      const harness = new DeepSeekHarness({ dshBin: '/nowhere/dsh.js', systemPrompt: 'x' });
      expect((await rejectionOf(harness.start())).message).to.contain('dshBin does not exist');
      await harness.close();
      expect(patchesInUse()).to.deep.equal([]);
    });
  });
});
