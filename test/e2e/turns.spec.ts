import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageInfo } from '../../src/base/index.js';
import { type HarnessNotification, isEvent } from '../../src/client/index.js';
import { Lab } from '../support/lab.js';
import { notificationShape } from '../support/notification-shape.js';
import { rejectionOf } from '../support/rejection-of.js';

const USAGE = { prompt_tokens: 10, completion_tokens: 5, completion_tokens_details: { reasoning_tokens: 3 } };

async function golden(name: string): Promise<string[]> {
  const file = join(packageInfo().root, 'test', 'fixtures', 'golden', `${name}.txt`);
  return (await readFile(file, 'utf8')).trimEnd().split('\n');
}

describe('a turn, end to end', () => {
  let lab: Lab;
  afterEach(() => lab.close());

  it('streams a text turn, equal to the golden recording', async () => {
    lab = await Lab.open({ reasoning: 'The user wants a greeting.', text: 'Hello there', chunkSize: 3, usage: USAGE });
    const seen: HarnessNotification[] = [];
    const result = await lab.harness().run('Say hello', { onNotification: (event) => seen.push(event) });
    expect(result.finalResponse).to.equal('Hello there');
    expect(result.outcome).to.equal('completed');
    expect(result.finishReason).to.equal('completed');
    expect(result.usage).to.deep.equal({ inputTokens: 10, outputTokens: 5, reasoningTokens: 3 });
    expect(result.notifications).to.deep.equal(seen);
    expect(notificationShape(result.notifications)).to.deep.equal(await golden('text-turn'));
    expect(await lab.storedEvents()).to.deep.equal(result.events);
    expect(result.events.map(({ seq }) => seq)).to.deep.equal(result.events.map((_, index) => index));
  });

  it('sends the model what the API wants, key and all', async () => {
    lab = await Lab.open({ text: 'ok' });
    await lab.harness().run('Say ok');
    const { path, headers, body } = await lab.server.request(0);
    expect(path).to.equal('/chat/completions');
    expect(headers.authorization).to.equal('Bearer sk-test-key');
    expect(headers['user-agent']).to.equal(`dsh-inversify/${packageInfo().version}`);
    expect(body).to.deep.include({
      model: 'deepseek-v4-flash',
      stream: true,
      reasoning_effort: 'high',
      max_tokens: 256_000,
    });
    expect(body.messages.map(({ role }: { role: string }) => role)).to.deep.equal(['system', 'user']);
    expect(body.messages[0].content).to.contain(lab.cwd);
    expect(body.tools.map(({ function: { name } }: { function: { name: string } }) => name)).to.deep.equal([
      'bash',
      'str_replace_editor',
    ]);
  });

  it('runs a persistent shell and an editor, equal to the golden recording', async () => {
    lab = await Lab.open();
    const note = join(lab.cwd, 'note.txt');
    const count = 'printf "COUNT=%s CWD=%s\\n" "$COUNT" "$PWD"';
    const calls: [string, object][] = [
      ['bash', { command: `cd /tmp && export COUNT=1 && ${count}` }],
      ['bash', { command: `COUNT=$((COUNT + 1)); ${count}` }],
      ['str_replace_editor', { command: 'create', path: note, file_text: 'target:\n\told\n' }],
      ['str_replace_editor', { command: 'view', path: note }],
      ['str_replace_editor', { command: 'str_replace', path: note, old_str: '\told', new_str: '\tnew' }],
      ['bash', { command: 'exit 9' }],
    ];
    for (const [name, args] of calls) lab.server.answer({ toolCalls: [{ name, arguments: args }], usage: USAGE });
    lab.server.answer({ text: 'ALL DONE', usage: USAGE });

    const result = await lab.harness().run('Prove that the shell keeps its state.');
    expect(result.finalResponse).to.equal('ALL DONE');
    expect(notificationShape(result.notifications)).to.deep.equal(await golden('persistent-tools'));
    expect(await readFile(note, 'utf8')).to.equal('target:\n\tnew\n');

    const { body } = await lab.server.request(6);
    const results = body.messages.filter(({ role }: { role: string }) => role === 'tool');
    expect(results[0].content).to.equal('COUNT=1 CWD=/tmp');
    expect(results[1].content).to.equal('COUNT=2 CWD=/tmp');
    expect(results[3].content).to.contain('\told');
    expect(results[5].content).to.contain('[shell exited: code 9]');
  });

  it('runs two sessions at once, each with its own shell, and keeps their events apart', async () => {
    lab = await Lab.open();
    lab.server.respond = ({ body }) => {
      const last = body.messages.at(-1);
      const mine = JSON.stringify(body.messages).includes('session A') ? 'A' : 'B';
      if (last.role === 'tool') return { text: `${mine} saw ${last.content}` };
      return { toolCalls: [{ name: 'bash', arguments: { command: `WHO=${mine}; echo $WHO` } }] };
    };
    const harness = lab.harness();
    const [a, b] = await Promise.all([
      harness.session('a').run('I am session A'),
      harness.session('b').run('I am session B'),
    ]);
    expect([a.finalResponse, b.finalResponse]).to.deep.equal(['A saw A', 'B saw B']);
    for (const { sessionId, notifications } of [a, b]) {
      const sessions = notifications.map(({ params }) => (params as { sessionId?: string }).sessionId);
      expect(new Set(sessions)).to.deep.equal(new Set([sessionId]));
    }
    expect(await lab.logs()).to.have.length(2);
  });

  it('continues one session over several prompts, with its history and its shell', async () => {
    lab = await Lab.open({ toolCalls: [{ name: 'bash', arguments: { command: 'KEPT=yes' } }] }, { text: 'one' });
    lab.server.answer({ toolCalls: [{ name: 'bash', arguments: { command: 'echo kept=$KEPT' } }] }, { text: 'two' });
    const session = lab.harness().session();
    await session.run('first');
    const second = await session.run('second');
    expect(second.finalResponse).to.equal('two');
    const { body } = await lab.server.request(3);
    expect(body.messages.at(-1).content).to.equal('kept=yes');
    expect(body.messages.filter(({ role }: { role: string }) => role === 'user')).to.have.length(2);
    expect(second.events.find(({ type }) => type === 'turn/start')?.data).to.deep.equal({ turn: 2 });
  });

  it('runs two prompts of one burst as two turns in order, without idle in between', async () => {
    lab = await Lab.open({ text: 'one', chunkSize: 1 }, { text: 'two' });
    const runtime = await lab.initialized();
    const prompts = ['first', 'second'].map((text) => ({ sessionId: 's', contentBlocks: [{ type: 'text', text }] }));
    runtime.write(...prompts.map((params, id) => ({ jsonrpc: '2.0', id, method: 'session/prompt', params })));
    await runtime.event('turn/end', ({ data }) => (data as { turn: number }).turn === 2);
    await runtime.idle('s');
    expect(runtime.frames.filter(({ method }) => method === 'session.status')).to.have.length(2);
    const texts = runtime.events.filter(({ type }) => type === 'user/message').map(({ data }) => JSON.stringify(data));
    expect(texts[0]).to.contain('first');
    expect(texts[1]).to.contain('second');
  });

  it('reports a model error as the outcome of the run, and takes the next prompt (E1)', async () => {
    lab = await Lab.open(
      { status: 401, body: { error: { message: 'bad key' } }, headers: { 'x-request-id': 'r-1' } },
      { status: 429, body: { error: { message: 'slow down' } }, headers: { 'retry-after': '70' } },
      { text: 'fine' },
    );
    const session = lab.harness().session();
    const refused = await session.run('x');
    expect(refused).to.deep.include({ outcome: 'error', finishReason: 'error', finalResponse: '', usage: undefined });
    expect(refused.error).to.deep.equal({ code: 'AUTH', message: 'bad key', status: 401, requestId: 'r-1' });
    const limited = await session.run('x');
    expect(limited.error).to.deep.include({ code: 'RATE_LIMIT', status: 429, retryAfterMs: 70_000 });
    expect((await session.run('x')).outcome).to.equal('completed');
  });

  it('logs a tool failure by the name and code of its error, as the bundle has it', async () => {
    lab = await Lab.open(
      { toolCalls: [{ name: 'str_replace_editor', arguments: { command: 'view', path: '/no/such/file' } }] },
      { text: 'ok' },
    );
    const { events } = await lab.harness().run('x');
    const result = events.find((event) => isEvent(event, 'tool/result'));
    expect(result?.data).to.have.deep.property('error', { name: 'FileError', code: 'FS_NOT_FOUND' });
  });

  it('says what keeps it from the server', async () => {
    lab = await Lab.open();
    const harness = lab.harness();
    await lab.server.stop();
    // It is asked again: the first retry tells why, and that is enough here.
    const stop = new AbortController();
    let failure: { readonly code: string; readonly message: string } | undefined;
    const run = harness.run('x', {
      signal: stop.signal,
      onNotification: ({ method, params }) => {
        if (method !== 'session.event' || !isEvent(params.event, 'llm/retry')) return;
        failure ??= params.event.data.failure;
        stop.abort();
      },
    });
    expect(await rejectionOf(run)).to.have.property('name', 'AbortError');
    expect(failure?.code).to.equal('TRANSPORT');
    expect(failure?.message).to.match(/^DeepSeek API request to http:\/\/127\.0\.0\.1:\d+ failed: .*ECONNREFUSED/);
  });

  it('hands the diagnostics of the runtime to the host', async () => {
    lab = await Lab.open({ text: 'ok' });
    const lines: string[] = [];
    const env = { ...lab.env, DSH_LOG_LEVEL: 'info', DSH_LOG_FORMAT: 'json' };
    const harness = lab.harness({ env, onStderr: (line) => lines.push(line) });
    await harness.run('x');
    await harness.close();
    const messages = lines.map((line) => (JSON.parse(line) as { message: string }).message);
    expect(messages).to.deep.equal(['ready', 'initialized', 'session opened', 'turn ended', 'closing']);
  });

  it('fails a turn without a key, naming the variable and never asking the server', async () => {
    lab = await Lab.open();
    const { DEEPSEEK_API_KEY: _, ...env } = lab.env;
    const result = await lab.harness({ env }).run('x');
    expect(result.error?.code).to.equal('MISSING_CREDENTIAL');
    expect(result.error?.message).to.contain('DEEPSEEK_API_KEY');
    expect(lab.server.requests).to.have.length(0);
  });
});
