import { expect } from 'chai';
import fc from 'fast-check';
import { buildRequestBody } from '../../src/model/chat-completions/request-body.js';
import { deepseekQuirks } from '../../src/model/deepseek/deepseek-quirks.js';
import { projectHistory } from '../../src/model/history-projection.js';
import { NO_RESULT, pairToolCalls } from '../../src/model/tool-pairing.js';
import type { ContentBlock, Message, ToolCallBlock, ToolResultBlock } from '../../src/protocol/index.js';
import { assistant, modelRequest, toolResult, user } from '../support/model-request.js';
import { runs } from '../support/runs.js';

const call = (id: string): ToolCallBlock => ({ type: 'tool-call', id, name: 'f', arguments: '{}' });
const result = (id: string, text: string): ToolResultBlock => ({
  type: 'tool-result',
  toolCallId: id,
  content: [{ type: 'text', text }],
});
const nothing = (id: string): ToolResultBlock => ({ ...result(id, NO_RESULT), isError: true });

/** Each message as its role and what it holds. */
function shapeOf(messages: readonly Message[]): readonly unknown[] {
  return messages.map(({ role, content }) => [role, ...content]);
}

describe('pairToolCalls', () => {
  it('passes a history that is in order by reference', () => {
    const messages = [
      user('go'),
      assistant('hm', call('a'), call('b')),
      toolResult('a', '1'),
      toolResult('b', '2'),
      assistant(call('a')),
      toolResult('a', '3'),
      assistant('done'),
    ];
    const paired = pairToolCalls(messages);
    expect(paired).to.have.length(messages.length);
    for (const [at, message] of paired.entries()) expect(message).to.equal(messages[at]);
  });

  it('tells of a call without a result, in its place among the others (G6)', () => {
    const answer = assistant(call('a'), call('b'), call('c'));
    expect(shapeOf(pairToolCalls([answer, toolResult('b', '2'), user('go on')]))).to.deep.equal([
      ['assistant', call('a'), call('b'), call('c')],
      ['user', nothing('a')],
      ['user', result('b', '2')],
      ['user', nothing('c')],
      ['user', { type: 'text', text: 'go on' }],
    ]);
    const [, told] = pairToolCalls([answer]);
    expect(told).to.deep.include({ id: `${answer.id}/a`, source: { kind: 'tool', callId: 'a' } });
    expect(pairToolCalls([answer])).to.deep.equal(pairToolCalls([answer]));
  });

  it('leaves out a result without its call, and a second result of one call (G7)', () => {
    const messages = [toolResult('a', 'lost'), assistant(call('a')), toolResult('a', '1'), toolResult('a', '2')];
    expect(shapeOf(pairToolCalls(messages))).to.deep.equal([
      ['assistant', call('a')],
      ['user', result('a', '1')],
    ]);
  });

  it('brings results to their calls, in the order of the calls', () => {
    const messages = [
      assistant(call('a'), call('b')),
      user('steer'),
      toolResult('b', '2'),
      assistant('meanwhile'),
      toolResult('a', '1'),
    ];
    expect(shapeOf(pairToolCalls(messages))).to.deep.equal([
      ['assistant', call('a'), call('b')],
      ['user', result('a', '1')],
      ['user', result('b', '2')],
      ['user', { type: 'text', text: 'steer' }],
      ['assistant', { type: 'text', text: 'meanwhile' }],
    ]);
  });

  it('takes results out of mixed messages, whose other blocks stay', () => {
    const messages = [assistant(call('a')), user('before', result('a', '1'), 'after', result('x', 'lost'))];
    expect(shapeOf(pairToolCalls(messages))).to.deep.equal([
      ['assistant', call('a')],
      ['user', result('a', '1')],
      ['user', { type: 'text', text: 'before' }, { type: 'text', text: 'after' }],
    ]);
  });

  it('gives a result to the latest call of its id, and each of two calls of one id its own', () => {
    const messages = [
      assistant(call('a')),
      assistant(call('a'), call('a')),
      toolResult('a', '1'),
      toolResult('a', '2'),
    ];
    expect(shapeOf(pairToolCalls(messages))).to.deep.equal([
      ['assistant', call('a')],
      ['user', nothing('a')],
      ['assistant', call('a'), call('a')],
      ['user', result('a', '1')],
      ['user', result('a', '2')],
    ]);
  });
});

describe('a request of any history', () => {
  const id = fc.constantFrom('a', 'b', 'c', '');
  const text = fc.constantFrom('x', 'y');
  const image: ContentBlock = {
    type: 'image',
    attachment: { attachmentId: 'sha256:i', mediaType: 'image/png', bytes: 1, width: 1, height: 1 },
  };
  const message = fc.oneof(
    fc.array(fc.oneof(id.map(call), text), { maxLength: 3 }).map((blocks) => assistant(...blocks)),
    fc
      .array(
        fc.oneof(
          fc.tuple(id, text).map(([of, said]) => result(of, said)),
          text,
          fc.constant(image),
        ),
        {
          maxLength: 3,
        },
      )
      .map((blocks) => user(...blocks)),
    fc.tuple(id, text).map(([of, said]) => toolResult(of, said, image)),
  );

  it('has the results of each answer right after it, one a call, and nowhere else (G6, G7)', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 10 }), fc.boolean(), (messages, readsImages) => {
        const projected = projectHistory(messages, { provider: 'deepseek-official', readsImages });
        const { messages: wire } = buildRequestBody(modelRequest({ messages: projected }), {
          quirks: deepseekQuirks('always', true),
          effortFields: {},
          images: new Map([['sha256:i', 'data:,']]),
        });
        const open: string[] = [];
        for (const sent of wire) {
          if (sent.role === 'tool') expect(sent.tool_call_id).to.equal(open.shift());
          else expect(open).to.deep.equal([]);
          if (sent.role === 'assistant') open.push(...(sent.tool_calls ?? []).map((made) => made.id));
        }
        expect(open).to.deep.equal([]);
        const texts = (all: readonly Message[]): number =>
          all.flatMap(({ content }) => content as readonly ContentBlock[]).filter(({ type }) => type === 'text').length;
        if (readsImages) expect(texts(projected)).to.equal(texts(messages));
      }),
      runs(300),
    );
  });
});
