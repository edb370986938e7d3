import { expect } from 'chai';
import { ContainerModule } from 'inversify';
import { SystemPrompt } from '../../src/agent/index.js';
import { createRuntime, type Runtime, type RuntimeOptions } from '../../src/host/index.js';
import { defineModule } from '../../src/kernel/index.js';
import { Tool } from '../../src/tool/index.js';
import { DeepSeekServer } from '../support/deepseek-server.js';
import { useHome } from '../support/home.js';
import { memoryProfile } from '../support/in-process.js';
import { rejectionOf } from '../support/rejection-of.js';

describe('a runtime in this process', () => {
  const home = useHome();
  const runtimes: Runtime[] = [];
  afterEach(async () => {
    for (const runtime of runtimes.splice(0)) await runtime.close().catch(() => undefined);
  });

  function runtimeOf(options: RuntimeOptions): Runtime {
    const runtime = createRuntime({ env: { DSH_HOME: home.path }, ...options });
    runtimes.push(runtime);
    return runtime;
  }

  const offline = { provider: 'offline', model: 'demo' };

  for (const profile of ['sdk', 'sdk-minimal']) {
    it(`runs the profile ${profile} by its name, through the client API`, async () => {
      const harness = runtimeOf({ profile }).harness({ ...offline, cwd: home.path });
      const { outcome, finalResponse, events } = await harness.run('look around');
      expect(outcome).to.equal('completed');
      expect(finalResponse).to.contain('look around').and.to.contain(home.path);
      expect(events.map(({ type }) => type)).to.include.members(['tool/call', 'tool/result', 'turn/end']);
      await harness.close();
    });
  }

  it('is closed with its harness, and the harness with it', async () => {
    const runtime = runtimeOf({ profile: await memoryProfile() });
    const harness = runtime.harness(offline);
    await harness.start();
    await harness.close();
    await runtime.closed;
    const other = runtimeOf({ profile: await memoryProfile() });
    const running = other.harness(offline);
    await running.start();
    await other.close();
    expect((await rejectionOf(running.run('x'))).message).to.contain('DeepSeek Harness runtime');
    await running.close();
  });

  it('closes running turns, which resolve as closed', async () => {
    const runtime = runtimeOf({ profile: await memoryProfile() });
    const script = home.write('script.yml', '- hang: true\n');
    const harness = runtime.harness({ provider: 'offline', model: `script:${script}`, cwd: home.path });
    const run = harness.run('x', {
      onNotification: ({ method }) => {
        if (method === 'session.status') void harness.close();
      },
    });
    expect((await run).outcome).to.equal('closed');
  });

  it('that cannot start says why to whoever uses it', async () => {
    const harness = runtimeOf({ profile: await memoryProfile([{ id: 'x', module: 'nothing' }]) }).harness(offline);
    const failure = await rejectionOf(harness.run('x'));
    expect(failure.message)
      .to.contain('DeepSeek Harness runtime failed to start')
      .and.to.contain('row "x": there is no module');
    await harness.close();
  });

  it('refuses options that only a process has', () => {
    const runtime = createRuntime();
    expect(() => runtime.harness({ profile: 'sdk', env: {} } as object)).to.throw(
      TypeError,
      'options.profile, options.env cannot be given to a runtime in this process: tell createRuntime',
    );
  });

  it('takes key and endpoint from the environment it is given, and two do not share theirs', async () => {
    const servers = await Promise.all([DeepSeekServer.start({ text: 'one' }), DeepSeekServer.start({ text: 'two' })]);
    try {
      const answers = await Promise.all(
        servers.map(async ({ url }, index) => {
          const env = { DSH_HOME: home.path, DEEPSEEK_BASE_URL: url, DEEPSEEK_API_KEY: `sk-key-${index}` };
          const harness = runtimeOf({ profile: await memoryProfile(), env }).harness({ cwd: home.path });
          return (await harness.run('hi')).finalResponse;
        }),
      );
      expect(answers).to.deep.equal(['one', 'two']);
      const keys = servers.map(({ requests }) => requests[0]?.headers.authorization);
      expect(keys).to.deep.equal(['Bearer sk-key-0', 'Bearer sk-key-1']);
    } finally {
      for (const server of servers) await server.stop();
    }
  });

  it('takes modules of the caller, which rows of a patch name', async () => {
    const module = defineModule({
      name: 'mine',
      config: { type: 'object', properties: { word: { type: 'string' } } },
      runtime: (config: { readonly word?: string }) =>
        new ContainerModule(({ bind }) => {
          bind(Tool).toConstantValue({
            name: 'mine',
            description: 'Says a word.',
            parameters: { type: 'object' },
            execute: () => config.word,
          });
        }),
    });
    const script = home.write('script.yml', '- toolCalls: [{ name: mine, arguments: {} }]\n- text: done\n');
    const harness = runtimeOf({
      profile: await memoryProfile(),
      modules: [module],
      patches: [
        [{ insert: [{ id: 'mine', module: 'mine', config: { word: 'first' } }] }],
        [{ id: 'mine', merge: { word: 'last' } }],
      ],
    }).harness({ provider: 'offline', model: `script:${script}`, cwd: home.path });
    const { events } = await harness.run('x');
    expect(JSON.stringify(events.filter(({ type }) => type === 'tool/result'))).to.contain('"last"');
  });

  for (const [what, names] of [
    ['of the name of a shipped one', ['llm']],
    ['of one name', ['mine', 'mine']],
  ] as const) {
    it(`refuses modules ${what}, which no row could tell apart`, async () => {
      const modules = names.map((name) => defineModule({ name }));
      const failure = await rejectionOf(runtimeOf({ profile: await memoryProfile(), modules }).start());
      expect(failure).to.include({ code: 'MODULE_EXISTS', message: `there is a module "${names[0]}" already` });
    });
  }

  it('takes overrides, which come last and may rebind', async () => {
    const overrides = [
      new ContainerModule(({ rebind }) => {
        rebind(SystemPrompt).toConstantValue({ assemble: () => 'You are overridden.' });
      }),
    ];
    const harness = runtimeOf({ profile: await memoryProfile(), overrides }).harness({ ...offline, cwd: home.path });
    const { events } = await harness.run('x');
    expect(JSON.stringify(events.find(({ type }) => type === 'request/header'))).to.contain('You are overridden.');
  });

  it('takes patches of the home it is given', async () => {
    home.write('patch.yml', '- { id: system-prompt, merge: { personaPrefix: You are patched. } }\n');
    const harness = runtimeOf({ profile: 'sdk-minimal' }).harness({ ...offline, cwd: home.path });
    const { events } = await harness.run('x');
    expect(JSON.stringify(events.find(({ type }) => type === 'request/header'))).to.contain('You are patched.');
  });
});
