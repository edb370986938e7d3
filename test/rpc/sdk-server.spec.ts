import { expect } from 'chai';
import { JsonRpcResponseError } from '../../src/protocol/index.js';
import { InProcess, memoryProfile } from '../support/in-process.js';

async function refusal(work: Promise<unknown>): Promise<JsonRpcResponseError> {
  const thrown = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(thrown).to.be.instanceOf(JsonRpcResponseError);
  return thrown as JsonRpcResponseError;
}

describe('HarnessSdkJsonRpcServer', () => {
  let host: InProcess;
  beforeEach(async () => {
    host = await InProcess.boot(await memoryProfile());
  });
  afterEach(() => host.runtime.close());

  const route = { cwd: process.cwd(), provider: 'offline', model: 'demo' };
  const refused: readonly [string, object, number, RegExp][] = [
    ['initialize', { ...route, cwd: '' }, -32602, /initialize cwd must be a non-empty string/],
    ['initialize', { ...route, cwd: 'no\0dir' }, -32602, /cannot be used/],
    ['initialize', { ...route, cwd: '/no/such/directory' }, -32602, /does not exist/],
    ['initialize', { ...route, cwd: import.meta.filename }, -32602, /is not a directory/],
    ['initialize', { ...route, model: 'no-such-model' }, -32602, /no-such-model/],
    ['initialize', { ...route, provider: 'nobody' }, -32602, /^no adapter registered for provider "nobody"$/],
    ['initialize', { ...route, maxTokens: 0 }, -32602, /^initialize maxTokens must be a positive safe integer$/],
    ['initialize', { ...route, reasoningEffort: '' }, -32602, /reasoningEffort must be a non-empty string/],
    [
      'session/prompt',
      { sessionId: 's', contentBlocks: [{ type: 'text', text: 'x' }] },
      -32603,
      /^SDK server is not initialized$/,
    ],
    ['session/prompt', { sessionId: '', contentBlocks: [] }, -32602, /sessionId must be a string of 1 to 1024 bytes/],
    ['nope', {}, -32601, /^unknown DeepSeek Harness SDK runtime method: nope$/],
    ['__proto__', {}, -32601, /__proto__/],
  ];
  for (const [method, params, code, message] of refused) {
    it(`answers ${method} ${JSON.stringify(params).slice(0, 80)} with ${code}`, async () => {
      const error = await refusal(host.client.request(method, params));
      expect(error.code).to.equal(code);
      expect(error.message).to.match(message);
    });
  }

  it('treats an optional member that is null as absent', async () => {
    expect(await host.initialize({ maxTokens: null, reasoningEffort: null })).to.have.property('serverInfo');
  });

  it('lists every violation with its path', async () => {
    const error = await refusal(host.client.request('initialize', { provider: 7, maxTokens: -1 }));
    const { violations } = error.data as unknown as { violations: { path: string }[] };
    expect(violations.map(({ path }) => path)).to.have.members(['cwd', 'provider', 'model', 'maxTokens']);
    await host.initialize();
    const blocks = [{ type: 'text' }, { type: 'text', text: 'fine' }, 7, { type: 'image', data: '' }];
    const prompt = await refusal(host.client.request('session/prompt', { sessionId: 's', contentBlocks: blocks }));
    expect(
      (prompt.data as unknown as typeof error.data & { violations: { path: string }[] }).violations.map(
        ({ path }) => path,
      ),
    ).to.deep.equal(['contentBlocks[0].text', 'contentBlocks[2]', 'contentBlocks[3].mimeType']);
    expect(prompt.message).to.equal('contentBlocks[0].text must be a string');
  });

  it('mounts the shipped DeepSeek adapter when no row serves its provider (decision 9)', async () => {
    const without = await InProcess.boot(
      await memoryProfile([{ id: 'llm-deepseek', module: 'llm-deepseek', disabled: true }]),
    );
    const effort = { provider: 'deepseek-official', model: 'deepseek-v4-flash', reasoningEffort: 'wild' };
    expect((await refusal(without.initialize(effort))).message).to.match(/wild/);
    expect(await without.initialize({ ...effort, reasoningEffort: 'low' })).to.have.property('serverInfo');
    await without.runtime.close();
  });

  it('pins the first initialize: the same again is answered alike, another is refused', async () => {
    const [first, again, other] = await Promise.allSettled([
      host.initialize(),
      host.initialize(),
      host.initialize({ maxTokens: 5 }),
    ]);
    expect(first.status).to.equal('fulfilled');
    expect(again).to.deep.equal(first);
    expect((other as PromiseRejectedResult).reason).to.deep.include({ code: -32600, message: 'already initialized' });
  });

  it('pins nothing when an initialize fails while another waits', async () => {
    const [bad, good] = await Promise.allSettled([host.initialize({ cwd: '/no/such' }), host.initialize()]);
    expect([bad.status, good.status]).to.deep.equal(['rejected', 'fulfilled']);
  });

  it('refuses prompts once shutdown began, and settles every shutdown alike', async () => {
    await host.initialize();
    await host.prompt('s', 'go');
    const [one, two, late] = await Promise.allSettled([
      host.client.request('shutdown'),
      host.client.request('shutdown'),
      host.prompt('s', 'late'),
    ]);
    expect(one).to.deep.equal({ status: 'fulfilled', value: {} });
    expect(two).to.deep.equal(one);
    expect((late as PromiseRejectedResult).reason).to.have.property('message', 'SDK server is shutting down');
    const last = host.notifications.at(-1);
    expect(last).to.deep.equal({ method: 'session.status', params: { sessionId: 's', status: 'idle' } });
  });
});
