import { expect } from 'chai';
import { createRuntime } from '../../src/host/index.js';
import { InProcess, memoryProfile } from '../support/in-process.js';
import { rejectionOf } from '../support/rejection-of.js';

describe('Runtime', () => {
  it('boots a profile in process and runs the main job on the offline model', async () => {
    const host = await InProcess.boot(await memoryProfile());
    expect(await host.initialize()).to.have.nested.property('serverInfo.name', 'deepseek-harness-sdk-runtime');
    expect(await host.prompt('s', 'look around')).to.have.property('messageId');
    await host.idle('s');
    const types = host.notifications.flatMap(({ method, params }) =>
      method === 'session.event' ? [params.event.type] : [],
    );
    expect(types).to.include.members(['turn/start', 'tool/call', 'tool/result', 'assistant/message', 'turn/end']);
    await host.runtime.close();
    expect(host.runtime.closing.aborted).to.equal(true);
    expect(host.runtime.pending).to.deep.equal([]);
  });

  it('closes for a client that asks for shutdown, after the answer', async () => {
    const host = await InProcess.boot(await memoryProfile());
    await host.initialize();
    expect(await host.client.request('shutdown')).to.deep.equal({});
    await host.runtime.closed;
    expect((await rejectionOf(host.client.request('nope'))).message).to.match(/closed/);
  });

  it('closes when its client goes', async () => {
    const host = await InProcess.boot(await memoryProfile());
    host.client.close();
    await host.runtime.closed;
  });

  it('boots once, closes once, and never starts after a close', async () => {
    const runtime = createRuntime({ profile: await memoryProfile(), env: {} });
    expect(runtime.start()).to.equal(runtime.start());
    await runtime.start();
    expect(runtime.close()).to.equal(runtime.close());
    await runtime.close();
    const closed = createRuntime({ profile: await memoryProfile(), env: {} });
    await closed.close();
    expect(await rejectionOf(closed.start())).to.have.property('code', 'RUNTIME_CLOSING');
  });

  const broken: readonly [string, Parameters<typeof memoryProfile>[0], string, RegExp][] = [
    ['an unknown module', [{ id: 'x', module: 'nothing' }], 'INVALID_PROFILE', /row "x": there is no module "nothing"/],
    [
      'a bad config',
      [{ id: 'agent-loop', module: 'agent-loop', config: { turbo: true } }],
      'INVALID_PROFILE',
      /row "agent-loop".*turbo/,
    ],
    [
      'a service bound twice',
      [{ id: 'again', module: 'llm' }],
      'BOOT_FAILED',
      /^AdapterRegistry is bound by row "llm" and row "again": take one of them out, or let it rebind the service; PriceTable is bound by [^;]*$/,
    ],
  ];
  for (const [what, changes, code, message] of broken) {
    it(`fails the boot on ${what}, saying where, and tears down what it built`, async () => {
      const runtime = createRuntime({ profile: await memoryProfile(changes), env: {} });
      const failure = await rejectionOf(runtime.start());
      expect(failure.message).to.match(message);
      expect(failure).to.have.property('code', code);
      await runtime.closed;
      expect(runtime.pending).to.deep.equal([]);
    });
  }

  it('fails the boot on a missing service, naming it', async () => {
    const runtime = createRuntime({
      profile: await memoryProfile([{ id: 'llm', module: 'llm', disabled: true }]),
      env: {},
    });
    const { message } = await rejectionOf(runtime.start());
    expect(message).to.contain('nothing provides AdapterRegistry, which ');
    expect(message).to.contain(': add a row with the module "llm"');
  });
});
