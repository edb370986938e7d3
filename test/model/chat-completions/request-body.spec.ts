import { expect } from 'chai';
import fc from 'fast-check';
import type { ChatQuirks } from '../../../src/model/chat-completions/quirks.js';
import {
  type BodyOptions,
  buildRequestBody,
  writeRequestBody,
} from '../../../src/model/chat-completions/request-body.js';
import { deepseekQuirks, effortFields } from '../../../src/model/deepseek/deepseek-quirks.js';
import type { ModelRequest } from '../../../src/model/index.js';
import type { ContentBlock, ToolCallBlock } from '../../../src/protocol/index.js';
import { assistant, modelRequest, toolResult, user } from '../../support/model-request.js';
import { runs } from '../../support/runs.js';

const stream = { stream: true, stream_options: { include_usage: true } } as const;
const thinking: ContentBlock = { type: 'reasoning', text: 'use ls' };

function call(id: string, args = '{"command":"ls"}'): ToolCallBlock {
  return { type: 'tool-call', id, name: 'bash', arguments: args };
}
function wireCall(id: string, args = '{"command":"ls"}'): object {
  return { id, type: 'function', function: { name: 'bash', arguments: args } };
}
/** DeepSeek's, at an effort. */
function options(effort: string, quirks: Partial<ChatQuirks> = {}): BodyOptions {
  return {
    quirks: { ...deepseekQuirks('always', effort !== 'off'), ...quirks },
    effortFields: effortFields(effort),
    images: new Map([['sha256:abc', 'data:image/png;base64,AAAA']]),
  };
}
function messagesOf(messages: ModelRequest['messages'], quirks: Partial<ChatQuirks> = {}): unknown {
  return buildRequestBody(modelRequest({ messages }), options('off', quirks)).messages;
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
      options('high'),
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
    expect(buildRequestBody(modelRequest({ tools: [] }), options('off'))).to.deep.equal({
      model: 'deepseek-v4-flash',
      ...stream,
      thinking: { type: 'disabled' },
      messages: [{ role: 'user', content: 'hello' }],
    });
  });

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
      expect(messagesOf(messages)).to.deep.equal(wire);
    });
  }

  describe('reasoning that goes back (H4, H5)', () => {
    const thought = assistant(thinking, 'done');
    const thoughtAndCalled = assistant(thinking, call('c-1'));
    const called = assistant(call('c-1'));
    const plain = assistant('hi');
    /** What goes back of each of the four. */
    type Sent = readonly (string | undefined)[];
    const rules: readonly (readonly [rule: Partial<ChatQuirks>, sent: Sent])[] = [
      [{ resendReasoning: 'always' }, ['use ls', 'use ls', undefined, undefined]],
      [{ resendReasoning: 'always', emptyReasoning: true }, ['use ls', 'use ls', '', undefined]],
      [{ resendReasoning: 'with-tool-calls' }, [undefined, 'use ls', undefined, undefined]],
      [{ resendReasoning: 'with-tool-calls', emptyReasoning: true }, [undefined, 'use ls', '', undefined]],
      [{ resendReasoning: 'never', emptyReasoning: true }, [undefined, undefined, undefined, undefined]],
      [{ resendReasoning: 'always', resendReasoningAs: 'reasoning' }, ['use ls', 'use ls', undefined, undefined]],
    ];
    for (const [rule, sent] of rules) {
      it(`follows ${JSON.stringify(rule)}`, () => {
        const wire = messagesOf([thought, thoughtAndCalled, called, plain], rule) as Record<string, unknown>[];
        const name = rule.resendReasoningAs ?? 'reasoning_content';
        expect(wire.map((message) => message[name])).to.deep.equal(sent);
        for (const [at, message] of wire.entries()) expect(name in message).to.equal(sent[at] !== undefined);
      });
    }

    it('is empty where a thinking DeepSeek model called a tool without having thought', () => {
      const body = (effort: string) => buildRequestBody(modelRequest({ messages: [called] }), options(effort));
      expect(body('high').messages[0]).to.have.property('reasoning_content', '');
      expect(body('off').messages[0]).not.to.have.property('reasoning_content');
    });
  });

  it('takes roles, names and the wish for usage from the quirks', () => {
    const request = modelRequest({ config: { provider: 'p', model: 'm', maxTokens: 9 }, system: 'S' });
    const quirks = { systemRole: 'developer', maxTokensField: 'max_completion_tokens', streamUsage: false } as const;
    expect(buildRequestBody(request, { ...options('off', quirks), effortFields: {} })).to.deep.equal({
      model: 'm',
      stream: true,
      max_completion_tokens: 9,
      messages: [
        { role: 'developer', content: 'S' },
        { role: 'user', content: 'hello' },
      ],
    });
  });

  describe('images', () => {
    const image: ContentBlock = {
      type: 'image',
      attachment: { attachmentId: 'sha256:abc', mediaType: 'image/png', bytes: 3, width: 40, height: 30 },
    };
    const handle = { type: 'text', text: '[image sha256:abc, 40x30]' };
    const shown = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    const lead = { type: 'text', text: 'Images of the tool results above:' };

    it('stand in their prompt, each after its handle', () => {
      expect(messagesOf([user('see', image, '', 'and', image)])).to.deep.equal([
        {
          role: 'user',
          content: [{ type: 'text', text: 'see' }, handle, shown, { type: 'text', text: 'and' }, handle, shown],
        },
      ]);
    });

    it('of results follow when all results are told, which name them', () => {
      const answer = assistant(call('c-1'), call('c-2'));
      const results = [toolResult('c-1', 'shot: ', image), toolResult('c-2', image)];
      const told = [
        { role: 'tool', tool_call_id: 'c-1', content: 'shot: [image sha256:abc, 40x30]' },
        { role: 'tool', tool_call_id: 'c-2', content: '[image sha256:abc, 40x30]' },
        { role: 'user', content: [lead, handle, shown, handle, shown] },
      ];
      const wire = messagesOf([answer, ...results]) as object[];
      expect(wire.slice(1)).to.deep.equal(told);
      const longer = messagesOf([answer, ...results, assistant('ok'), user('next')]) as object[];
      expect(longer.slice(1)).to.deep.equal([
        ...told,
        { role: 'assistant', content: 'ok' },
        { role: 'user', content: 'next' },
      ]);
    });

    it('are looked at as closely as the model is told to', () => {
      const body = buildRequestBody(modelRequest({ messages: [user(image)] }), {
        ...options('off'),
        imageDetail: 'low',
      });
      expect(body.messages[0]?.content).to.deep.equal([
        handle,
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
      ]);
    });
  });
});

describe('writeRequestBody', () => {
  const reply = (text: string) => modelRequest({ messages: [user(text)] });

  it('writes the body as JSON', () => {
    const request = modelRequest({ messages: [user('C:\\udata \\ud83d 🔥 "\n')], system: 'S' });
    expect(JSON.parse(writeRequestBody(request, options('high')))).to.deep.equal(
      buildRequestBody(request, options('high')),
    );
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
        options('off'),
      ),
    );
    expect(body).to.deep.equal({
      model: whole,
      ...stream,
      thinking: { type: 'disabled' },
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
        expect(JSON.parse(writeRequestBody(reply(text), options('off'))).messages).to.deep.equal([
          { role: 'user', content: text.toWellFormed() },
        ]);
      }),
      runs(500),
    );
  });
});
