import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { expect } from 'chai';
import { ContributedAdapterRegistry } from '../../../src/model/contributed-adapter-registry.js';
import type { AdapterRegistry, ModelRequest } from '../../../src/model/index.js';
import { OfflineAdapter } from '../../../src/model/offline/offline-adapter.js';
import type { StreamChunk } from '../../../src/protocol/index.js';
import { assistant, collect, finishOf, modelRequest, said, toolResult, user } from '../../support/model-request.js';

describe('offline model script', () => {
  let dir: string;
  let path: string;
  let registry: AdapterRegistry;

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'dsh-script-'));
    path = join(dir, 'script.yml');
    registry = new ContributedAdapterRegistry([new OfflineAdapter({ script: path })], []);
  });
  afterEach(() => rm(dir, { recursive: true }));

  function stream(request: Partial<ModelRequest> = {}, model = 'script'): AsyncIterable<readonly StreamChunk[]> {
    const { config, stream } = registry.prepare({ provider: 'offline', model });
    return stream(modelRequest({ config, ...request }));
  }
  function play(request: Partial<ModelRequest> = {}, model = 'script'): Promise<readonly StreamChunk[]> {
    return collect(stream(request, model));
  }
  function failureOf(chunks: readonly StreamChunk[]): { code: string; message: string } | undefined {
    return (finishOf(chunks) as { failure?: { code: string; message: string } }).failure;
  }
  function write(text: string): Promise<void> {
    return writeFile(path, text);
  }

  it('plays the items in order, with what they say', async () => {
    await write(`
- reasoning: look first
  toolCalls: [{name: bash, arguments: {command: "ls"}}]
- when: {lastMessageIncludes: "No such file"}
  text: there is nothing
- text: done 🔥
  usage: {inputTokens: 10, outputTokens: 2, cacheReadTokens: 1}
  chunkSize: 4
  delayMs: 1
- error: {status: 429, message: slow down, retryAfterMs: 1000}
`);
    expect(await play()).to.deep.equal([
      { type: 'block-start', index: 0, blockType: 'reasoning' },
      { type: 'reasoning-delta', index: 0, text: 'look first' },
      { type: 'block-start', index: 1, blockType: 'tool-call' },
      { type: 'tool-call-delta', index: 1, id: 'call-1', name: 'bash', argumentsDelta: '{"command":"ls"}' },
      { type: 'block-end', index: 0, block: { type: 'reasoning', text: 'look first' } },
      {
        type: 'block-end',
        index: 1,
        block: { type: 'tool-call', id: 'call-1', name: 'bash', arguments: '{"command":"ls"}' },
      },
      { type: 'finish', reason: { kind: 'tool-calls' } },
    ]);
    expect(await play({ messages: [toolResult('call-1', 'a.txt')] })).to.deep.equal([
      { type: 'block-start', index: 0, blockType: 'text' },
      { type: 'text-delta', index: 0, text: 'done' },
      { type: 'text-delta', index: 0, text: ' 🔥' },
      { type: 'block-end', index: 0, block: { type: 'text', text: 'done 🔥' } },
      { type: 'usage', usage: { inputTokens: 10, outputTokens: 2, cacheReadTokens: 1 } },
      { type: 'finish', reason: { kind: 'stop' } },
    ]);
    expect(failureOf(await play())).to.deep.equal({
      code: 'RATE_LIMIT',
      message: 'slow down',
      status: 429,
      providerRetryAfterMs: 1000,
    });
  });

  it('plays an item whose condition the last message meets, in a prompt or a tool result', async () => {
    await write(`
- when: {lastMessageIncludes: "No such file"}
  text: nothing
- when: {lastMessageIncludes: "please"}
  text: welcome
`);
    const call = assistant({ type: 'tool-call', id: 'c', name: 'bash', arguments: '{}' });
    expect(said(await play({ messages: [call, toolResult('c', 'ls: No such file')] }))).to.equal('nothing');
    expect(said(await play({ messages: [user('No such file'), user('one', ' please')] }))).to.equal('welcome');
  });

  it('skips an item for good when its condition fails', async () => {
    await write('[{when: {lastMessageIncludes: later}, text: a}, {text: b}, {text: c}]');
    expect(said(await play())).to.equal('b');
    expect(said(await play({ messages: [user('later')] }))).to.equal('c');
  });

  it('has a cursor of its own for each session', async () => {
    await write('[{text: a}, {text: b}]');
    expect(said(await play({ sessionId: 'one' }))).to.equal('a');
    expect(said(await play({ sessionId: 'two' }))).to.equal('a');
    expect(said(await play({ sessionId: 'one' }))).to.equal('b');
    expect(failureOf(await play({ sessionId: 'one' }))).to.deep.equal({
      code: 'SCRIPT_EXHAUSTED',
      message: `the script ${path} has no item left for session "one" (2 in all)`,
    });
    expect(said(await play({ sessionId: 'two' }))).to.equal('b');
  });

  it('plays the file that the model names, relative to the directory of the process', async () => {
    await writeFile(join(dir, 'other.json'), '[{"text": "other"}, {"text": "more"}]');
    const other = join(dir, 'other.json');
    expect(said(await play({}, `script:${other}`))).to.equal('other');
    expect(said(await play({}, `script:${relative(process.cwd(), other)}`))).to.equal('more');
  });

  it('gives calls ids that nothing else in the script has, and keeps arguments that are text', async () => {
    await write(`
- toolCalls:
    - {name: a, arguments: "{\\"broken"}
    - {id: call-2, name: b, arguments: ""}
    - {name: c, arguments: {}}
`);
    const calls = (await play()).flatMap((chunk) => (chunk.type === 'block-end' ? [chunk.block] : []));
    expect(calls).to.deep.equal([
      { type: 'tool-call', id: 'call-1', name: 'a', arguments: '{"broken' },
      { type: 'tool-call', id: 'call-2', name: 'b', arguments: '' },
      { type: 'tool-call', id: 'call-3', name: 'c', arguments: '{}' },
    ]);
  });

  for (const [finish, kind] of [
    ['stop', 'stop'],
    ['tool-calls', 'tool-calls'],
    ['max-tokens', 'max-tokens'],
  ]) {
    it(`finishes with ${finish} when told so`, async () => {
      await write(`[{text: a, toolCalls: [{name: x, arguments: {}}], finish: ${finish}}]`);
      expect(finishOf(await play())).to.deep.equal({ kind });
    });
  }

  const errors: readonly (readonly [written: string, failure: object])[] = [
    ['{message: no}', { code: 'UNKNOWN', message: 'no' }],
    ['{message: no, code: MINE}', { code: 'MINE', message: 'no' }],
    ['{message: no, status: 503}', { code: 'SERVER', message: 'no', status: 503 }],
    ['{message: insufficient balance, status: 402}', { code: 'QUOTA', message: 'insufficient balance', status: 402 }],
    ['{message: no, status: 401, code: MINE}', { code: 'MINE', message: 'no', status: 401 }],
  ];
  for (const [written, failure] of errors) {
    it(`fails with ${written}`, async () => {
      await write(`[{error: ${written}}]`);
      expect(finishOf(await play())).to.deep.equal({ kind: 'error', failure });
    });
  }

  it('fails after as many deltas as it is told, else after all', async () => {
    await write(`
- {text: abcdef, chunkSize: 2, error: {message: x, afterDeltas: 2}}
- {text: abcdef, chunkSize: 2, error: {message: x, afterDeltas: 0}}
- {text: abcdef, chunkSize: 2, error: {message: x}}
`);
    expect(said(await play())).to.equal('abcd');
    expect(said(await play())).to.equal('');
    expect(said(await play())).to.equal('abcdef');
  });

  it('hangs after what it says until it is aborted', async () => {
    await write('[{text: wait, hang: true}, {text: on}]');
    const abort = new AbortController();
    const chunks: StreamChunk[] = [];
    for await (const batch of stream({ signal: abort.signal })) {
      chunks.push(...batch);
      setImmediate(() => abort.abort());
    }
    expect(said(chunks)).to.equal('wait');
    expect(finishOf(chunks)).to.deep.include({ kind: 'aborted' });
    expect(said(await play())).to.equal('on');
  });

  it('is aborted in a delay', async () => {
    await write('[{text: ab, chunkSize: 1, delayMs: 2147483647}]');
    const abort = new AbortController();
    const chunks = collect(stream({ signal: abort.signal }));
    setImmediate(() => abort.abort());
    expect(finishOf(await chunks)).to.deep.include({ kind: 'aborted' });
  });

  it('names the file that it cannot read, and reads it when it is there', async () => {
    const failure = failureOf(await play());
    expect(failure?.code).to.equal('SCRIPT_UNREADABLE');
    expect(failure?.message)
      .to.match(/^cannot read the script /)
      .and.include(path);
    await write('[{text: now}]');
    expect(said(await play())).to.equal('now');
  });

  const invalid: readonly (readonly [text: string, why: string | RegExp])[] = [
    ['', 'it must be a list of items'],
    ['text: a', 'it must be a list of items'],
    ['- text: [a', /at line \d/],
    ['[{text: a}, hello]', 'item [1]: must be object'],
    ['[{text: a}, {txt: b}]', 'item [1]: unknown key "txt"'],
    ['[{text: 5}]', 'item [0]: text must be string'],
    ['[{when: {contains: x}}]', /item \[0\]: (unknown key "when.contains"|when must have .*lastMessageIncludes)/],
    ['[{when: {lastMessageIncludes: x, or: y}}]', 'item [0]: unknown key "when.or"'],
    ['[{toolCalls: {name: x}}]', 'item [0]: toolCalls must be array'],
    ['[{toolCalls: [{name: x, arguments: {}}, {arguments: {}}]}]', /item \[0\]: toolCalls\[1\] must have .*name/],
    ['[{toolCalls: [{name: x, arguments: [1]}]}]', 'item [0]: toolCalls[0].arguments must be object,string'],
    ['[{toolCalls: [{name: x, args: {}, arguments: {}}]}]', 'item [0]: unknown key "toolCalls[0].args"'],
    ['[{usage: {inputTokens: 1}}]', /item \[0\]: usage must have .*outputTokens/],
    ['[{usage: {inputTokens: -1, outputTokens: 1}}]', 'item [0]: usage.inputTokens must be >= 0'],
    ['[{finish: error}]', 'item [0]: finish must be equal to one of the allowed values: stop, tool-calls, max-tokens'],
    ['[{chunkSize: 0}]', 'item [0]: chunkSize must be >= 1'],
    ['[{delayMs: soon}]', 'item [0]: delayMs must be integer'],
    ['[{hang: "yes"}]', 'item [0]: hang must be boolean'],
    ['[{error: {status: 429}}]', /item \[0\]: error must have .*message/],
    ['[{error: {message: x, retry: 1}}]', 'item [0]: unknown key "error.retry"'],
  ];
  for (const [text, why] of invalid) {
    it(`refuses ${JSON.stringify(text)}`, async () => {
      await write(text);
      const failure = failureOf(await play());
      expect(failure?.code).to.equal('INVALID_SCRIPT');
      const lead = `the script ${path} is invalid: `;
      expect(failure?.message.startsWith(lead)).to.equal(true);
      const reason = failure?.message.slice(lead.length);
      if (typeof why === 'string') expect(reason).to.equal(why);
      else expect(reason).to.match(why);
    });
  }
});
