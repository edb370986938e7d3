import { expect } from 'chai';
import { ResponseTranslator } from '../../../src/model/chat-completions/response-translator.js';
import { deepseekQuirks } from '../../../src/model/deepseek/deepseek-quirks.js';
import type { StreamChunk } from '../../../src/protocol/index.js';
import { assertChunkGrammar } from '../../support/chunk-grammar.js';
import { finishOf, said } from '../../support/model-request.js';

const QUIRKS = deepseekQuirks('always', true);

/** The chunks of a stream, given as the data of its events: objects are payloads. */
function translate(...events: readonly (object | string)[]): readonly StreamChunk[] {
  const translator = new ResponseTranslator(QUIRKS);
  for (const event of events) translator.push(typeof event === 'string' ? event : JSON.stringify(event));
  translator.end();
  const chunks = translator.take();
  assertChunkGrammar(chunks);
  return chunks;
}
function delta(fields: object, finishReason?: string | null): object {
  return { choices: [{ index: 0, delta: fields, finish_reason: finishReason }] };
}
function call(fields: object): object {
  return delta({ tool_calls: [fields] });
}
/** The closed blocks. */
function blocks(chunks: readonly StreamChunk[]): readonly unknown[] {
  return chunks.flatMap((chunk) => (chunk.type === 'block-end' ? [chunk.block] : []));
}
function toolCall(id: string, name: string, args: string): object {
  return { type: 'tool-call', id, name, arguments: args };
}

const DONE = '[DONE]';

describe('ResponseTranslator', () => {
  it('streams reasoning, text and calls, and closes them at the end', () => {
    const chunks = translate(
      delta({ role: 'assistant', content: '', reasoning_content: null }),
      delta({ reasoning_content: 'look' }),
      delta({ reasoning_content: ' first' }),
      delta({ content: 'ok' }),
      call({ index: 0, id: 'c-1', function: { name: 'bash', arguments: '' } }),
      call({ index: 0, function: { arguments: '{}' } }),
      delta({}, 'tool_calls'),
      { choices: [], usage: { prompt_tokens: 12, completion_tokens: 5, prompt_cache_hit_tokens: 2 } },
      DONE,
    );
    expect(chunks).to.deep.equal([
      { type: 'block-start', index: 0, blockType: 'reasoning' },
      { type: 'reasoning-delta', index: 0, text: 'look' },
      { type: 'reasoning-delta', index: 0, text: ' first' },
      { type: 'block-start', index: 1, blockType: 'text' },
      { type: 'text-delta', index: 1, text: 'ok' },
      { type: 'block-start', index: 2, blockType: 'tool-call' },
      { type: 'tool-call-delta', index: 2, id: 'c-1', name: 'bash', argumentsDelta: '' },
      { type: 'tool-call-delta', index: 2, id: 'c-1', argumentsDelta: '{}' },
      { type: 'block-end', index: 0, block: { type: 'reasoning', text: 'look first' } },
      { type: 'block-end', index: 1, block: { type: 'text', text: 'ok' } },
      { type: 'block-end', index: 2, block: toolCall('c-1', 'bash', '{}') },
      { type: 'usage', usage: { inputTokens: 10, outputTokens: 5, cacheReadTokens: 2 } },
      { type: 'finish', reason: { kind: 'tool-calls' } },
    ]);
  });

  it('hands out what came since the last time', () => {
    const translator = new ResponseTranslator(QUIRKS);
    translator.push(JSON.stringify(delta({ content: 'a' })));
    expect(translator.take()).to.have.length(2);
    translator.push(JSON.stringify(delta({ content: 'b' })));
    expect(translator.take()).to.deep.equal([{ type: 'text-delta', index: 0, text: 'b' }]);
    expect(translator.take()).to.deep.equal([]);
  });

  it('has one text and one reasoning block, however they alternate', () => {
    const chunks = translate(
      delta({ content: 'a' }),
      delta({ reasoning_content: 'x' }),
      delta({ content: 'b', reasoning_content: 'y' }),
      DONE,
    );
    expect(blocks(chunks)).to.deep.equal([
      { type: 'text', text: 'ab' },
      { type: 'reasoning', text: 'xy' },
    ]);
  });

  const calls: readonly (readonly [what: string, events: readonly object[], made: readonly object[]])[] = [
    [
      'interleaved fragments',
      [
        call({ index: 0, id: 'a', function: { name: 'f', arguments: '1' } }),
        call({ index: 1, id: 'b', function: { name: 'g', arguments: '2' } }),
        call({ index: 0, function: { arguments: '3' } }),
        call({ index: 1, function: { arguments: '4' } }),
      ],
      [toolCall('a', 'f', '13'), toolCall('b', 'g', '24')],
    ],
    [
      'id and name in later fragments',
      [
        call({ index: 0, function: { arguments: '{' } }),
        call({ index: 0, id: 'a' }),
        call({ index: 0, function: { name: 'f', arguments: '}' } }),
      ],
      [toolCall('a', 'f', '{}')],
    ],
    ['no id and no name at all', [call({ index: 0, function: { arguments: '{}' } })], [toolCall('', '', '{}')]],
    ['no function', [call({ index: 0, id: 'a', function: null })], [toolCall('a', '', '')]],
    [
      'wire indexes that do not begin at zero',
      [call({ index: 7, id: 'a', function: { name: 'f' } }), call({ index: 3, id: 'b', function: { name: 'g' } })],
      [toolCall('a', 'f', ''), toolCall('b', 'g', '')],
    ],
    [
      'two calls without an index, told apart by id (H6)',
      [
        call({ id: 'a', function: { name: 'f', arguments: '{' } }),
        call({ function: { arguments: '}' } }),
        call({ id: 'b', function: { name: 'g', arguments: '{' } }),
        call({ id: 'b', function: { arguments: '}' } }),
      ],
      [toolCall('a', 'f', '{}'), toolCall('b', 'g', '{}')],
    ],
    [
      'two calls without an index and id, told apart by name (H6)',
      [
        delta({
          tool_calls: [{ function: { name: 'f', arguments: '1' } }, { function: { name: 'f', arguments: '2' } }],
        }),
      ],
      [toolCall('', 'f', '1'), toolCall('', 'f', '2')],
    ],
    [
      'a call without an index whose id comes late (H6)',
      [call({ function: { name: 'f' } }), call({ id: 'a', function: { arguments: '{}' } })],
      [toolCall('a', 'f', '{}')],
    ],
    [
      'two whole calls that share an index and have no ids',
      [
        call({ index: 0, function: { name: 'f', arguments: '{"a":1}' } }),
        call({ index: 0, function: { name: 'f', arguments: '{"a":2}' } }),
      ],
      [toolCall('', 'f', '{"a":1}'), toolCall('', 'f', '{"a":2}')],
    ],
    [
      'a call whose name is said again before it is whole',
      [
        call({ index: 0, function: { name: 'f', arguments: '{"a"' } }),
        call({ index: 0, function: { name: 'f', arguments: ':1}' } }),
        call({ index: 0, function: { arguments: ' ' } }),
      ],
      [toolCall('', 'f', '{"a":1} ')],
    ],
    [
      'numbers as ids',
      [
        call({ index: 0, id: 7, function: { name: 'f', arguments: '1' } }),
        call({ index: 0, id: 8, function: { name: 'g', arguments: '2' } }),
      ],
      [toolCall('7', 'f', '1'), toolCall('8', 'g', '2')],
    ],
    [
      'a whole message in the place of a delta',
      [{ choices: [{ index: 0, message: { tool_calls: [{ id: 'a', function: { name: 'f', arguments: '{}' } }] } }] }],
      [toolCall('a', 'f', '{}')],
    ],
    [
      'the first of several answers only',
      [
        call({ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }),
        {
          choices: [{ index: 1, delta: { content: 'other', tool_calls: [{ index: 0, id: 'b' }] }, finish_reason: 'x' }],
        },
      ],
      [toolCall('a', 'f', '{}')],
    ],
    [
      'arguments with a hole in them, as they are (H7)',
      [call({ index: 0, id: 'a', function: { name: 'f', arguments: '{"a": ,' } })],
      [toolCall('a', 'f', '{"a": ,')],
    ],
  ];
  for (const [what, events, made] of calls) {
    it(`assembles ${what}`, () => {
      expect(blocks(translate(...events, DONE))).to.deep.equal(made);
    });
  }

  const finishes: readonly (readonly [reason: string | null | undefined, mapped: object])[] = [
    ['stop', { kind: 'stop' }],
    [null, { kind: 'stop' }],
    [undefined, { kind: 'stop' }],
    ['tool_calls', { kind: 'tool-calls' }],
    ['length', { kind: 'max-tokens' }],
    [
      'content_filter',
      { kind: 'error', failure: { code: 'CONTENT_FILTER', message: 'model stopped: content_filter' } },
    ],
    [
      'insufficient_system_resource',
      {
        kind: 'error',
        failure: { code: 'INSUFFICIENT_SYSTEM_RESOURCE', message: 'model stopped: insufficient_system_resource' },
      },
    ],
  ];
  for (const [reason, mapped] of finishes) {
    it(`maps finish_reason ${reason}`, () => {
      expect(finishOf(translate(delta({ content: 'a' }), delta({}, reason), DONE))).to.deep.equal(mapped);
    });
  }

  it('takes the last finish_reason and the last usage', () => {
    const chunks = translate(
      { ...delta({ content: 'a' }, 'stop'), usage: { prompt_tokens: 1, completion_tokens: 1 } },
      { ...delta({}, 'length'), usage: null },
      { choices: [], usage: { prompt_tokens: 3, completion_tokens: 4 } },
      DONE,
    );
    expect(chunks.slice(-2)).to.deep.equal([
      { type: 'usage', usage: { inputTokens: 3, outputTokens: 4 } },
      { type: 'finish', reason: { kind: 'max-tokens' } },
    ]);
  });

  const usages: readonly (readonly [what: string, usage: unknown, mapped: object | undefined])[] = [
    ['no cache', { prompt_tokens: 9, completion_tokens: 4 }, { inputTokens: 9, outputTokens: 4 }],
    [
      'a cold cache',
      { prompt_tokens: 9, completion_tokens: 4, prompt_cache_hit_tokens: 0 },
      { inputTokens: 9, outputTokens: 4, cacheReadTokens: 0 },
    ],
    [
      'both cache fields',
      {
        prompt_tokens: 9,
        completion_tokens: 4,
        prompt_cache_hit_tokens: 1,
        prompt_tokens_details: { cached_tokens: 5 },
        completion_tokens_details: { reasoning_tokens: 3 },
      },
      { inputTokens: 4, outputTokens: 4, cacheReadTokens: 5, reasoningTokens: 3 },
    ],
    ['half of it', { prompt_tokens: 9 }, undefined],
    ['nonsense', { prompt_tokens: '9', completion_tokens: -1 }, undefined],
    ['a list', [], undefined],
  ];
  for (const [what, usage, mapped] of usages) {
    it(`reads usage with ${what}`, () => {
      const chunks = translate({ ...delta({ content: 'a' }), usage }, DONE);
      expect(chunks.find((chunk) => chunk.type === 'usage')).to.deep.equal(mapped && { type: 'usage', usage: mapped });
    });
  }

  it('fails an answer without any content', () => {
    const failure = { code: 'EMPTY_RESPONSE', message: 'model returned a completed response with no content' };
    for (const chunks of [translate(DONE), translate(delta({ content: '' }), delta({}, 'stop'), DONE)]) {
      expect(finishOf(chunks)).to.deep.equal({ kind: 'error', failure });
    }
  });

  it('accepts an answer that only reasons', () => {
    expect(finishOf(translate(delta({ reasoning_content: 'hm' }), DONE))).to.deep.equal({ kind: 'stop' });
  });

  it('ignores what comes after the end', () => {
    const chunks = translate(delta({ content: 'a' }), DONE, delta({ content: 'b' }), 'junk', DONE);
    expect(said(chunks)).to.equal('a');
    expect(finishOf(chunks)).to.deep.equal({ kind: 'stop' });
  });

  const cut: readonly (readonly [after: string, event: object])[] = [
    ['reasoning', delta({ reasoning_content: 'hm' })],
    ['text', delta({ content: 'a' })],
    ['a parsed call', call({ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } })],
    ['a finish_reason', delta({ content: 'a' }, 'stop')],
  ];
  for (const [after, event] of cut) {
    it(`fails a stream that is cut after ${after} (H3)`, () => {
      const chunks = translate(event);
      expect(finishOf(chunks)).to.have.nested.property('failure.code', 'STREAM_CLOSED');
      expect(blocks(chunks)).to.deep.equal([]);
    });
  }

  const malformed = ['{"choices":[{"del', 'upstream connect error', '', '[]', 'null', '7'];
  for (const data of malformed) {
    it(`refuses the data ${JSON.stringify(data)} (H3)`, () => {
      const chunks = translate(delta({ content: 'a' }), data, DONE);
      expect(finishOf(chunks)).to.have.nested.property('failure.code', 'MALFORMED_RESPONSE');
    });
  }

  it('quotes little of malformed data, and no half character', () => {
    const reason = finishOf(translate(`${'x'.repeat(118)}🔥${'y'.repeat(1000)}`)) as { failure: { message: string } };
    const quoted = reason.failure.message.replace(/^.*?: /, '');
    expect(quoted).to.equal(`${'x'.repeat(118)}…`);
  });

  it('skips a comment that a proxy wrapped as data (H2)', () => {
    const chunks = translate(': OPENROUTER PROCESSING', delta({ content: 'a' }), DONE);
    expect(finishOf(chunks)).to.deep.equal({ kind: 'stop' });
  });

  it('tells an error inside the stream, before and after content (H8)', () => {
    const error = { error: { message: 'busy', type: 'overloaded_error', code: 503 } };
    const failed = { kind: 'error', failure: { code: 'SERVER', message: 'busy', status: 503 } };
    expect(finishOf(translate(error, DONE))).to.deep.equal(failed);
    expect(finishOf(translate(delta({ content: 'a' }), error))).to.deep.equal(failed);
  });

  it('overlooks members of the wrong type', () => {
    const chunks = translate(
      { choices: 'none' },
      { choices: [null, 3, { delta: 'x' }, { delta: { content: 5, reasoning_content: {}, tool_calls: 'no' } }] },
      delta({ tool_calls: [null, 'x'] }),
      delta({ content: 'a' }),
      DONE,
    );
    expect(blocks(chunks)).to.deep.equal([{ type: 'text', text: 'a' }]);
  });
});
