import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { packageInfo } from '../../../src/base/index.js';
import { ContributedAdapterRegistry } from '../../../src/model/contributed-adapter-registry.js';
import type { AdapterRegistry } from '../../../src/model/index.js';
import { OfflineAdapter, type OfflineConfig } from '../../../src/model/offline/offline-adapter.js';
import type { ContentBlock, LlmFailure, Message, StreamChunk } from '../../../src/protocol/index.js';
import { assistant, collect, finishOf, modelRequest, said, toolResult, user } from '../../support/model-request.js';
import { useTempDir } from '../../support/temp-dir.js';

const FIXTURE = join(packageInfo().root, 'test', 'fixtures', 'logs', 'two-turns.jsonl');
const FIRST_PROMPT = 'Write /workspace/a.txt and show it.';

/** One session on a model: it keeps the history, as the loop does. */
class Conversation {
  readonly messages: Message[] = [];

  constructor(
    readonly registry: AdapterRegistry,
    readonly options: { readonly model?: string; readonly sessionId?: string; readonly cwd?: string } = {},
  ) {}

  /** Asks with what is new in the history. A failed answer does not enter it. */
  async ask(...news: readonly Message[]): Promise<readonly StreamChunk[]> {
    const { model = 'replay', sessionId = 's', cwd = '/here' } = this.options;
    this.messages.push(...news);
    const { config, stream } = this.registry.prepare({ provider: 'offline', model });
    const chunks = await collect(stream(modelRequest({ config, sessionId, cwd, messages: [...this.messages] })));
    if (failureOf(chunks) === undefined) this.messages.push(assistant(...blocksOf(chunks)));
    return chunks;
  }
}

function failureOf(chunks: readonly StreamChunk[]): LlmFailure | undefined {
  return (finishOf(chunks) as { readonly failure?: LlmFailure }).failure;
}

function blocksOf(chunks: readonly StreamChunk[]): readonly ContentBlock[] {
  return chunks.flatMap((chunk) => (chunk.type === 'block-end' ? [chunk.block] : []));
}

describe('offline model replay', () => {
  const dir = useTempDir();
  let path: string;
  beforeEach(async () => {
    path = join(dir.path, 'session.jsonl');
    await copyFile(FIXTURE, path);
  });

  function registryOf(config: OfflineConfig = { replay: path }): AdapterRegistry {
    return new ContributedAdapterRegistry([new OfflineAdapter(config)], []);
  }
  /** The fixture with some of its lines changed. */
  async function rewrite(change: (lines: string[]) => readonly string[]): Promise<void> {
    const lines = (await readFile(FIXTURE, 'utf8')).trimEnd().split('\n');
    await writeFile(path, `${change(lines).join('\n')}\n`);
  }

  it('answers the Nth request of a session as the Nth call of the log was, packed rows and failures included', async () => {
    const session = new Conversation(registryOf());
    const failed = await session.ask(user(FIRST_PROMPT));
    expect(failed).to.deep.equal([
      { type: 'block-start', index: 0, blockType: 'text' },
      { type: 'text-delta', index: 0, text: 'I wi' },
      { type: 'usage', usage: { inputTokens: 40, outputTokens: 2 } },
      { type: 'finish', reason: { kind: 'error', failure: { message: 'slow down', code: 'RATE_LIMIT', status: 429 } } },
    ]);
    const calls = await session.ask();
    expect(said(calls, 'reasoning-delta')).to.equal('One command will do.');
    expect(calls.filter(({ type }) => type === 'reasoning-delta')).to.have.length(4);
    expect(finishOf(calls)).to.deep.equal({ kind: 'tool-calls' });
    expect(said(await session.ask(toolResult('call-1', 'one')))).to.equal('It holds one line.');
    await session.ask(user('What time is it?'));
    const last = await session.ask(toolResult('call-2', 'whatever the clock says'));
    expect(said(last)).to.equal('Late.');
    expect(last.find(({ type }) => type === 'usage')).to.deep.include({ usage: { inputTokens: 80, outputTokens: 2 } });
    expect(failureOf(await session.ask(user('And now?')))).to.deep.equal({
      code: 'REPLAY_EXHAUSTED',
      message: `request 6 of session "s": the log ${path} has no answer left (5 in all)`,
    });
  });

  it('does not wait before what was retried, but keeps a wait that ended the turn', async () => {
    const { retryPolicy } = registryOf().prepare({ provider: 'offline', model: 'replay' });
    expect(retryPolicy).to.deep.include({ initialDelayMs: 0, jitterRatio: 0, mode: 'normal' });
    await rewrite((lines) => [...lines.slice(0, 13)]);
    expect(failureOf(await new Conversation(registryOf()).ask(user(FIRST_PROMPT)))).to.deep.include({
      code: 'RATE_LIMIT',
      providerRetryAfterMs: 5000,
    });
  });

  it('maps the recorded workspace to the own one in calls, wherever they were cut', async () => {
    const session = new Conversation(registryOf(), { cwd: '/srv/my "app"' });
    await session.ask(user(FIRST_PROMPT));
    const calls = await session.ask();
    const [, call] = blocksOf(calls);
    const where = '/srv/my "app"';
    expect(call).to.deep.include({ type: 'tool-call', name: 'bash', id: 'call-1' });
    expect(JSON.parse((call as { arguments: string }).arguments)).to.deep.equal({
      command: `cd ${where} && echo one > ${where}/a.txt && cat ${where}/a.txt`,
    });
    const pieces = calls.flatMap((chunk) => (chunk.type === 'tool-call-delta' ? [chunk.argumentsDelta] : []));
    expect(pieces).to.deep.equal([
      '{"command":"cd /srv/my \\"app\\"',
      ' && echo one > /srv/my \\"app\\"/a',
      '',
      '.txt && cat /srv/my \\"app\\"/a.txt"}',
    ]);
    expect(said(await session.ask(toolResult('call-1', 'one')))).to.equal('It holds one line.');
  });

  it('takes a prompt that names the own workspace as well as the recorded one', async () => {
    const session = new Conversation(registryOf(), { cwd: '/srv/app' });
    expect(failureOf(await session.ask(user('Write /srv/app/a.txt and show it.')))?.code).to.equal('RATE_LIMIT');
  });

  it('maps what the row says, with ${cwd} for the workspace', async () => {
    const replayMap = { '/workspace/a.txt': '${cwd}/b.txt', bash: 'zsh', '/workspace': '/w' };
    const session = new Conversation(registryOf({ replay: path, replayMap }), { cwd: '/srv' });
    await session.ask(user(FIRST_PROMPT));
    const [, call] = blocksOf(await session.ask());
    expect(call).to.deep.include({
      name: 'bash',
      arguments: '{"command":"cd /w && echo one > /srv/b.txt && cat /srv/b.txt"}',
    });
  });

  it('leaves the paths of a log without a workspace alone', async () => {
    await rewrite(([header = '', ...lines]) => [header.replace('"cwd":"/workspace",', ''), ...lines]);
    const session = new Conversation(registryOf());
    await session.ask(user(FIRST_PROMPT));
    expect(JSON.stringify(blocksOf(await session.ask()))).to.contain('cd /workspace &&');
  });

  describe('compares what is new', () => {
    const first = [user(FIRST_PROMPT)];
    const mismatches: readonly [string, readonly (readonly Message[])[], string][] = [
      [
        'the text of a prompt',
        [[user('Write /workspace/b.txt and show it.')]],
        'the user message is "Write /workspace/b.txt and show it.", recorded was "Write /here/a.txt and show it."',
      ],
      ['a message that is missing', [[]], 'the recorded user message "Write /workspace/a.txt and show it." is missing'],
      ['a message too many', [[...first, user('Now!')]], 'the user message "Now!" was not recorded'],
      [
        'the text of a tool result, near where it differs',
        [first, [], [toolResult('call-1', 'two')]],
        'the tool result is "two", recorded was "one"',
      ],
      [
        'what kind of message it is',
        [[assistant(FIRST_PROMPT)]],
        `the answer "${FIRST_PROMPT}" comes where user message "${FIRST_PROMPT}" was recorded`,
      ],
    ];
    for (const [what, asks, message] of mismatches) {
      it(`and refuses a difference in ${what}`, async () => {
        const session = new Conversation(registryOf());
        let chunks: readonly StreamChunk[] = [];
        for (const news of asks) chunks = await session.ask(...news);
        const failure = failureOf(chunks);
        expect(failure?.code).to.equal('REPLAY_MISMATCH');
        const at = asks.length === 1 ? 8 : 33;
        expect(failure?.message).to.equal(
          `request ${asks.length} of session "s" differs from the log ${path} before event ${at}: ${message}`,
        );
      });
    }

    it('in the calls of the answer, by name and arguments', async () => {
      for (const [from, to, message] of [
        ['call-1', 'call-9', undefined],
        ['"name":"bash"', '"name":"zsh"', /the call of zsh .* comes where call of bash .* was recorded/],
        ['echo one', 'echo two', /the call of bash is "….*echo two.*", recorded was "….*echo one/],
      ] as const) {
        const session = new Conversation(registryOf());
        await session.ask(...first);
        await session.ask();
        const answer = JSON.stringify(session.messages.pop()).replaceAll(from, to);
        session.messages.push(JSON.parse(answer));
        const failure = failureOf(await session.ask(toolResult(from === 'call-1' ? to : 'call-1', 'one')));
        if (message === undefined) expect(failure).to.equal(undefined);
        else expect(failure?.message).to.match(message);
      }
    });

    it('and shows a long text only around the difference', async () => {
      const long = `${'x'.repeat(500)}!${'y'.repeat(500)}`;
      await rewrite((lines) => lines.map((line) => line.replace('"text":"one"', `"text":"${long}"`)));
      const session = new Conversation(registryOf());
      await session.ask(...first);
      await session.ask();
      const failure = failureOf(await session.ask(toolResult('call-1', long.replace('!', '?'))));
      expect(failure?.message).to.match(/the tool result is "…x{20}\?y{59}…", recorded was "…x{20}!y{59}…"$/);
    });

    it('but never ids, times, system and tools', async () => {
      const registry = registryOf();
      const { config, stream } = registry.prepare({ provider: 'offline', model: 'replay' });
      const tools = [{ name: 'other', description: '', parameters: {} }];
      const chunks = await collect(stream(modelRequest({ config, system: 'Other.', tools, messages: [...first] })));
      expect(failureOf(chunks)?.code).to.equal('RATE_LIMIT');
    });
  });

  it('counts for each session on its own, and counts a request that differed', async () => {
    const registry = registryOf();
    const one = new Conversation(registry, { sessionId: 'one' });
    expect(failureOf(await one.ask(user('wrong')))?.code).to.equal('REPLAY_MISMATCH');
    expect(said(await new Conversation(registry, { sessionId: 'two' }).ask(user(FIRST_PROMPT)))).to.equal('I wi');
    expect(said(await one.ask(), 'reasoning-delta')).to.equal('One command will do.');
  });

  it('ends a call that was cut off as aborted: nothing retries it', async () => {
    await rewrite((lines) => lines.slice(0, 11));
    expect(await new Conversation(registryOf()).ask(user(FIRST_PROMPT))).to.deep.equal([
      { type: 'block-start', index: 0, blockType: 'text' },
      { type: 'text-delta', index: 0, text: 'I wi' },
      {
        type: 'finish',
        reason: { kind: 'aborted', failure: { code: 'ABORTED', message: 'the recorded answer was cut off here' } },
      },
    ]);
  });

  it('plays the good part of a damaged log', async () => {
    await rewrite((lines) => lines.map((line, at) => (at === 30 ? 'garbage' : line)));
    const session = new Conversation(registryOf());
    expect(failureOf(await session.ask(user(FIRST_PROMPT)))?.code).to.equal('RATE_LIMIT');
  });

  const forms: readonly [string, (log: Buffer) => Promise<string>][] = [
    [
      'gzip',
      async (log) => {
        const file = join(dir.path, 'packed', 'session.jsonl.gz');
        await mkdir(join(dir.path, 'packed'));
        await writeFile(file, gzipSync(log));
        return file;
      },
    ],
    [
      'any name',
      async (log) => {
        await writeFile(join(dir.path, 'tape.jsonl'), log);
        return join(dir.path, 'tape.jsonl');
      },
    ],
    ['a relative path', async () => relative(process.cwd(), path)],
  ];
  for (const [what, make] of forms) {
    it(`reads a log of ${what}, named by the model`, async () => {
      const file = await make(await readFile(FIXTURE));
      const session = new Conversation(registryOf({}), { model: `replay:${file}` });
      expect(failureOf(await session.ask(user(FIRST_PROMPT)))?.code).to.equal('RATE_LIMIT');
    });
  }

  it('says why a log cannot be played, and reads it when it is there', async () => {
    const missing = join(dir.path, 'none.jsonl');
    const session = new Conversation(registryOf({ replay: missing }));
    expect(failureOf(await session.ask(user(FIRST_PROMPT)))).to.deep.equal({
      code: 'REPLAY_UNREADABLE',
      message: `cannot replay the log ${missing}: there is no session log ${missing}`,
    });
    await writeFile(missing, 'no log\n');
    expect(failureOf(await session.ask())?.message).to.match(/none\.jsonl:1: /);
    await copyFile(FIXTURE, missing);
    expect(failureOf(await session.ask())?.code).to.equal('RATE_LIMIT');
  });

  it('heeds an abort between two batches', async () => {
    const abort = new AbortController();
    const { config, stream } = registryOf().prepare({ provider: 'offline', model: 'replay' });
    const request = modelRequest({ config, messages: [user(FIRST_PROMPT)], signal: abort.signal });
    const chunks: StreamChunk[] = [];
    for await (const batch of stream(request)) {
      chunks.push(...batch);
      abort.abort();
    }
    expect(finishOf(chunks)).to.deep.include({ kind: 'aborted' });
    expect(chunks).to.have.length(2);
  });
});
