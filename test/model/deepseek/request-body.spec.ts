import { expect } from 'chai';
import fc from 'fast-check';
import { buildRequestBody, writeRequestBody } from '../../../src/model/deepseek/request-body.js';
import type { ModelRequest } from '../../../src/model/index.js';
import type { ContentBlock, ToolCallBlock } from '../../../src/protocol/index.js';
import { assistant, modelRequest, toolResult, user } from '../../support/model-request.js';

const stream = { stream: true, stream_options: { include_usage: true } } as const;
const thinking: ContentBlock = { type: 'reasoning', text: 'use ls' };

function call(id: string, args = '{"command":"ls"}'): ToolCallBlock {
  return { type: 'tool-call', id, name: 'bash', arguments: args };
}
function wireCall(id: string, args = '{"command":"ls"}'): object {
  return { id, type: 'function', function: { name: 'bash', arguments: args } };
}
function messagesOf(...messages: ModelRequest['messages']): unknown {
  return buildRequestBody(modelRequest({ messages })).messages;
}

describe('buildRequestBody', () => {
  it('makes the whole body of a step after a tool call', () => {
    const parameters = { type: 'object' };
    const body = buildRequestBody(
      modelRequest({
        config: {
          provider: 'deepseek-official',
          model: 'deepseek-v4-pro',
          reasoningEffort: 'high',
          temperature: 0,
          maxTokens: 256_000,
          stop: ['END'],
        },
        system: 'S',
        messages: [user('list'), assistant(thinking, call('c-1')), toolResult('c-1', 'a.txt')],
        tools: [{ name: 'bash', description: 'Run', parameters }],
      }),
    );
    expect(body).to.deep.equal({
      model: 'deepseek-v4-pro',
      ...stream,
      thinking: { type: 'enabled' },
      reasoning_effort: 'high',
      temperature: 0,
      max_tokens: 256_000,
      stop: ['END'],
      messages: [
        { role: 'system', content: 'S' },
        { role: 'user', content: 'list' },
        { role: 'assistant', content: '', reasoning_content: 'use ls', tool_calls: [wireCall('c-1')] },
        { role: 'tool', tool_call_id: 'c-1', content: 'a.txt' },
      ],
      tools: [{ type: 'function', function: { name: 'bash', description: 'Run', parameters } }],
    });
  });

  it('leaves out what is not set', () => {
    expect(buildRequestBody(modelRequest({ tools: [] }))).to.deep.equal({
      model: 'deepseek-v4-flash',
      ...stream,
      messages: [{ role: 'user', content: 'hello' }],
    });
  });

  const efforts: readonly (readonly [string | undefined, 'enabled' | 'disabled' | undefined, object])[] = [
    ['low', undefined, { thinking: { type: 'enabled' }, reasoning_effort: 'low' }],
    ['high', undefined, { thinking: { type: 'enabled' }, reasoning_effort: 'high' }],
    ['max', 'enabled', { thinking: { type: 'enabled' }, reasoning_effort: 'max' }],
    ['off', undefined, { thinking: { type: 'disabled' } }],
    ['off', 'enabled', { thinking: { type: 'disabled' } }],
    ['high', 'disabled', { thinking: { type: 'disabled' } }],
    [undefined, 'enabled', { thinking: { type: 'enabled' } }],
    [undefined, 'disabled', { thinking: { type: 'disabled' } }],
    [undefined, undefined, {}],
  ];
  for (const [effort, mode, fields] of efforts) {
    it(`asks for effort ${effort} with thinking ${mode}`, () => {
      const config = { provider: 'p', model: 'm', ...(effort !== undefined && { reasoningEffort: effort }) };
      const {
        model: _,
        stream: _s,
        stream_options: _o,
        messages: _m,
        ...rest
      } = buildRequestBody(modelRequest({ config }), mode);
      expect(rest).to.deep.equal(fields);
    });
  }

  const unknown = { type: 'sticker', text: 'x' } as unknown as ContentBlock;
  const histories: readonly (readonly [what: string, messages: ModelRequest['messages'], wire: readonly object[]])[] = [
    ['joins text blocks without a separator', [user('a', 'b')], [{ role: 'user', content: 'ab' }]],
    ['sends a message without sendable content empty', [user(unknown)], [{ role: 'user', content: '' }]],
    [
      'splits a mixed message, text first',
      [user({ type: 'tool-result', toolCallId: 'c-1', content: [{ type: 'text', text: 'r' }] }, 'and')],
      [
        { role: 'user', content: 'and' },
        { role: 'tool', tool_call_id: 'c-1', content: 'r' },
      ],
    ],
    [
      'says that a tool had no output',
      [toolResult('c-1'), toolResult('c-2', '')],
      [
        { role: 'tool', tool_call_id: 'c-1', content: '(no output)' },
        { role: 'tool', tool_call_id: 'c-2', content: '(no output)' },
      ],
    ],
    [
      'sends reasoning back without a tool call too',
      [assistant(thinking, 'done')],
      [{ role: 'assistant', content: 'done', reasoning_content: 'use ls' }],
    ],
    [
      'sends an answer that only reasoned',
      [assistant(thinking)],
      [{ role: 'assistant', content: '', reasoning_content: 'use ls' }],
    ],
    ['sends an answer without reasoning', [assistant('hi')], [{ role: 'assistant', content: 'hi' }]],
    [
      'keeps parallel calls in order, arguments as they were streamed (H7)',
      [assistant('two', call('c-1'), call('c-2', '{"command":'), call('c-3', ''))],
      [
        {
          role: 'assistant',
          content: 'two',
          tool_calls: [wireCall('c-1'), wireCall('c-2', '{"command":'), wireCall('c-3', '')],
        },
      ],
    ],
    ['skips block types it does not know', [assistant('hi', unknown)], [{ role: 'assistant', content: 'hi' }]],
  ];
  for (const [what, messages, wire] of histories) {
    it(what, () => {
      expect(messagesOf(...messages)).to.deep.equal(wire);
    });
  }

  const image: ContentBlock = {
    type: 'image',
    attachment: { attachmentId: 'sha256:abc', mediaType: 'image/png', bytes: 1, width: 1, height: 1 },
  };
  for (const [where, message] of [
    ['a prompt', user(image)],
    ['a tool result', toolResult('c-1', image)],
    ['an answer', assistant(image)],
  ] as const) {
    it(`refuses an image in ${where}`, () => {
      expect(() => messagesOf(message))
        .to.throw('DeepSeek model "deepseek-v4-flash" does not accept image input.')
        .with.property('code', 'UNSUPPORTED_CONTENT');
    });
  }
});

describe('writeRequestBody', () => {
  const reply = (text: string) => modelRequest({ messages: [user(text)] });

  it('writes the body as JSON', () => {
    const request = modelRequest({ messages: [user('C:\\udata \\ud83d 🔥 "\n')], system: 'S' });
    expect(JSON.parse(writeRequestBody(request, 'enabled'))).to.deep.equal(buildRequestBody(request, 'enabled'));
  });

  it('replaces half a surrogate pair wherever it stands; a call still has its result (A8)', () => {
    const half = 'x\ud83d';
    const whole = 'x\ufffd';
    const body = JSON.parse(
      writeRequestBody(
        modelRequest({
          config: { provider: 'p', model: half, stop: [half] },
          system: half,
          messages: [
            user(half),
            assistant({ type: 'reasoning', text: half }, half, {
              type: 'tool-call',
              id: half,
              name: half,
              arguments: half,
            }),
            toolResult(half, half),
          ],
          tools: [{ name: half, description: half, parameters: { [half]: [half] } }],
        }),
      ),
    );
    expect(body).to.deep.equal({
      model: whole,
      ...stream,
      stop: [whole],
      messages: [
        { role: 'system', content: whole },
        { role: 'user', content: whole },
        {
          role: 'assistant',
          content: whole,
          reasoning_content: whole,
          tool_calls: [{ id: whole, type: 'function', function: { name: whole, arguments: whole } }],
        },
        { role: 'tool', tool_call_id: whole, content: whole },
      ],
      tools: [{ type: 'function', function: { name: whole, description: whole, parameters: { [whole]: [whole] } } }],
    });
  });

  it('leaves every other text as it is (A8)', () => {
    const pieces = fc.constantFrom('\ud83d', '\udd25', '\\', '\\ud83d', 'ud83d', '"', '\n', '\u2028', 'a', '台');
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
        const text = parts.join('');
        expect(JSON.parse(writeRequestBody(reply(text))).messages).to.deep.equal([
          { role: 'user', content: text.toWellFormed() },
        ]);
      }),
      { numRuns: 500 },
    );
  });
});
