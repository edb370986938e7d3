import { expect } from 'chai';
import { ContributedAdapterRegistry } from '../../../src/model/contributed-adapter-registry.js';
import type { ModelRequest } from '../../../src/model/index.js';
import { OfflineAdapter } from '../../../src/model/offline/offline-adapter.js';
import type { Message, StreamChunk, ToolCallBlock } from '../../../src/protocol/index.js';
import { assistant, collect, finishOf, modelRequest, said, toolResult, user } from '../../support/model-request.js';

const bash = { name: 'bash', description: 'Run', parameters: { type: 'object' } };
const config = { provider: 'offline', model: 'demo' };

function ask(messages: readonly Message[], fields: Partial<ModelRequest> = {}): Promise<readonly StreamChunk[]> {
  const call = new ContributedAdapterRegistry([new OfflineAdapter({})], []).prepare(config);
  return collect(call.stream(modelRequest({ config, messages, tools: [bash], ...fields })));
}
function callOf(chunks: readonly StreamChunk[]): ToolCallBlock {
  const block = chunks.flatMap((chunk) => (chunk.type === 'block-end' ? [chunk.block] : [])).at(-1);
  if (block?.type !== 'tool-call') throw new Error('no tool call');
  return block;
}

describe('offline model demo', () => {
  it('thinks, then looks at the workspace with the shell', async () => {
    const chunks = await ask([user('what is here?')]);
    expect(said(chunks, 'reasoning-delta')).not.to.equal('');
    expect(said(chunks)).to.equal('');
    expect(callOf(chunks)).to.deep.include({ name: 'bash', arguments: '{"command":"pwd; ls -la"}' });
    expect(finishOf(chunks)).to.deep.equal({ kind: 'tool-calls' });
  });

  it('answers with what the shell showed and what it was asked, in small deltas', async () => {
    const prompt = user('what is here?\nand why?');
    const call = callOf(await ask([prompt]));
    const chunks = await ask([prompt, assistant(call), toolResult(call.id, '/tmp/w\nREADME.md\n')]);
    expect(said(chunks)).to.include('> what is here?\n> and why?\n');
    expect(said(chunks)).to.include('> /tmp/w\n> README.md\n');
    expect(finishOf(chunks)).to.deep.equal({ kind: 'stop' });
    const deltas = chunks.filter((chunk) => chunk.type === 'text-delta');
    expect(deltas.length).to.be.greaterThan(5);
    expect(Math.max(...deltas.map((chunk) => (chunk.type === 'text-delta' ? chunk.text.length : 0)))).to.be.at.most(12);
  });

  it('goes the same way in every turn of a session, each call with an id of its own', async () => {
    const history: Message[] = [];
    const ids: string[] = [];
    for (const text of ['one', 'two', 'three']) {
      history.push(user(text));
      const call = callOf(await ask(history));
      ids.push(call.id);
      history.push(assistant(call), toolResult(call.id, `saw ${text}`));
      const chunks = await ask(history);
      expect(said(chunks)).to.include(`> ${text}\n`).and.to.include(`> saw ${text}\n`);
      history.push(assistant(said(chunks)));
    }
    expect(new Set(ids).size).to.equal(3);
  });

  it('answers at once where there is no shell', async () => {
    const chunks = await ask([user('hello')], { tools: [] });
    expect(said(chunks)).to.include('> hello');
    expect(finishOf(chunks)).to.deep.equal({ kind: 'stop' });
  });

  it('quotes the prompt, not what was put in around it', async () => {
    const context: Message = { ...user('context'), source: { kind: 'plugin', plugin: 'x', form: 'snapshot' } };
    expect(said(await ask([user('hello'), context], { tools: [] })))
      .to.include('> hello')
      .and.not.include('context');
  });

  it('says when the shell failed', async () => {
    const failed = { type: 'tool-result', toolCallId: 'c', isError: true, content: [] } as const;
    const call = assistant({ type: 'tool-call', id: 'c', name: 'bash', arguments: '{}' });
    expect(said(await ask([user('hello'), call, user(failed)]))).to.include('The shell failed:');
  });

  it('quotes the head of what is very long', async () => {
    const text = said(await ask([user(`${'x'.repeat(1_999)}🔥${'y'.repeat(50_000)}`)], { tools: [] }));
    expect(text).to.include(`> ${'x'.repeat(1_999)}…`);
    expect(text.length).to.be.lessThan(3_000);
  });

  it('stops between two deltas', async () => {
    const abort = new AbortController();
    const call = new ContributedAdapterRegistry([new OfflineAdapter({})], []).prepare(config);
    const chunks: StreamChunk[] = [];
    for await (const batch of call.stream(modelRequest({ config, tools: [bash], signal: abort.signal }))) {
      chunks.push(...batch);
      abort.abort();
    }
    expect(chunks.map(({ type }) => type)).to.deep.equal(['block-start', 'reasoning-delta', 'finish']);
    expect(finishOf(chunks)).to.deep.include({ kind: 'aborted' });
  });
});
