/** One answer as a kind of server streams it, and what is to be made of it. */
export interface Transcript {
  readonly server: string;
  /** The bytes of the body. */
  readonly body: string;
  readonly config?: object;
  readonly reasoning?: string;
  readonly text?: string;
  /** Name and arguments of each call. */
  readonly calls?: readonly (readonly [name: string, args: string])[];
  /** Their ids; where absent, they are invented. */
  readonly ids?: readonly string[];
  readonly usage?: object;
  readonly finish: string;
}

function events(...payloads: readonly object[]): string {
  return payloads.map((payload) => `data: ${JSON.stringify(payload)}\n\n`).join('');
}
function chunk(delta: object, finish_reason: string | null = null, rest: object = {}): object {
  return { id: 'chatcmpl-1', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }], ...rest };
}
const DONE = 'data: [DONE]\n\n';

/** Written after what these servers are known to send. */
export const TRANSCRIPTS: readonly Transcript[] = [
  {
    server: 'Ollama: a whole call in one delta, every index 0, stop in place of tool_calls',
    body:
      events(
        chunk({ role: 'assistant', content: '', reasoning: 'let me ' }),
        chunk({ role: 'assistant', content: '', reasoning: 'look' }),
        chunk({
          role: 'assistant',
          content: '',
          tool_calls: [
            { id: 'call_a1', index: 0, type: 'function', function: { name: 'ls', arguments: '{"path":"."}' } },
          ],
        }),
        chunk({
          role: 'assistant',
          content: '',
          tool_calls: [{ id: 'call_b2', index: 0, type: 'function', function: { name: 'pwd', arguments: '{}' } }],
        }),
        chunk({ role: 'assistant', content: '' }, 'stop'),
        { id: 'chatcmpl-1', choices: [], usage: { prompt_tokens: 31, completion_tokens: 12, total_tokens: 43 } },
      ) + DONE,
    reasoning: 'let me look',
    calls: [
      ['ls', '{"path":"."}'],
      ['pwd', '{}'],
    ],
    ids: ['call_a1', 'call_b2'],
    usage: { inputTokens: 31, outputTokens: 12 },
    finish: 'tool-calls',
  },
  {
    server: 'Ollama, an old one: arguments as an object, no id, no index',
    body:
      events(
        chunk({ role: 'assistant', tool_calls: [{ function: { name: 'ls', arguments: { path: '.' } } }] }),
        chunk({ role: 'assistant', tool_calls: [{ function: { name: 'ls', arguments: { path: '/' } } }] }),
        chunk({}, 'stop'),
      ) + DONE,
    calls: [
      ['ls', '{"path":"."}'],
      ['ls', '{"path":"/"}'],
    ],
    finish: 'tool-calls',
  },
  {
    server: 'llama.cpp: null content, id in the first fragment only, usage and timings with the finish',
    body:
      events(
        chunk({ role: 'assistant', content: null }),
        chunk({ reasoning_content: 'hm' }),
        chunk({
          tool_calls: [{ index: 0, id: 'Lk3', type: 'function', function: { name: 'bash', arguments: '{"command":' } }],
        }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: '"ls"}' } }] }),
        chunk({}, 'tool_calls', {
          usage: { completion_tokens: 20, prompt_tokens: 80, prompt_tokens_details: { cached_tokens: 60 } },
          timings: { predicted_ms: 1.5 },
        }),
      ) + DONE,
    reasoning: 'hm',
    calls: [['bash', '{"command":"ls"}']],
    ids: ['Lk3'],
    usage: { inputTokens: 20, outputTokens: 20, cacheReadTokens: 60 },
    finish: 'tool-calls',
  },
  {
    server: 'llama.cpp, without [DONE]',
    body: events(chunk({ role: 'assistant', content: null }), chunk({ content: 'hi' }), chunk({}, 'stop')),
    text: 'hi',
    finish: 'stop',
  },
  {
    server: 'vLLM: usage in every chunk, another id in every fragment of a call',
    body:
      events(
        chunk({ role: 'assistant', content: '' }, null, { usage: { prompt_tokens: 9, completion_tokens: 0 } }),
        chunk({ reasoning_content: 'a' }, null, { usage: { prompt_tokens: 9, completion_tokens: 1 } }),
        chunk({
          tool_calls: [{ index: 0, id: 'chatcmpl-tool-1', type: 'function', function: { name: 'f' } }],
        }),
        chunk({ tool_calls: [{ index: 0, id: 'chatcmpl-tool-2', function: { arguments: '{"a"' } }] }),
        chunk({ tool_calls: [{ index: 0, id: 'chatcmpl-tool-3', function: { arguments: ':1}' } }] }),
        chunk({ tool_calls: [{ index: 1, id: 'chatcmpl-tool-4', function: { name: 'g', arguments: '{}' } }] }),
        chunk({ content: '' }, 'tool_calls', { usage: { prompt_tokens: 9, completion_tokens: 7 } }),
        { id: 'chatcmpl-1', choices: [], usage: { prompt_tokens: 9, completion_tokens: 8, total_tokens: 17 } },
      ) + DONE,
    reasoning: 'a',
    calls: [
      ['f', '{"a":1}'],
      ['g', '{}'],
    ],
    ids: ['chatcmpl-tool-1', 'chatcmpl-tool-4'],
    usage: { inputTokens: 9, outputTokens: 8 },
    finish: 'tool-calls',
  },
  {
    server: 'OpenRouter: comments, reasoning under two names, an empty delta, a choice with extra members',
    body: `: OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n${events(
      chunk({ role: 'assistant', content: '', reasoning: 'so', reasoning_content: 'so', reasoning_details: [] }),
      chunk({ role: 'assistant', content: 'yes', reasoning: null }),
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop', native_finish_reason: 'completed', logprobs: null }] },
      {
        choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }],
        usage: {
          prompt_tokens: 4,
          completion_tokens: 3,
          cost: 0.1,
          completion_tokens_details: { reasoning_tokens: 2 },
        },
      },
    )}${DONE}`,
    reasoning: 'so',
    text: 'yes',
    usage: { inputTokens: 4, outputTokens: 3, reasoningTokens: 2 },
    finish: 'stop',
  },
  {
    server: 'LM Studio: the name and an empty id in every fragment, CRLF',
    body: (
      events(
        chunk({ role: 'assistant', reasoning_text: 'why' }),
        chunk({ tool_calls: [{ id: '', type: 'function', function: { name: 'f', arguments: '' } }] }),
        chunk({ tool_calls: [{ id: '', type: 'function', function: { name: 'f', arguments: '{"a":' } }] }),
        chunk({ tool_calls: [{ id: '', type: 'function', function: { name: 'f', arguments: '1}' } }] }),
        chunk({ tool_calls: [{ id: '', type: 'function', function: { name: 'g', arguments: '{}' } }] }),
        chunk({}, 'tool_calls'),
      ) + DONE
    ).replaceAll('\n', '\r\n'),
    reasoning: 'why',
    calls: [
      ['f', '{"a":1}'],
      ['g', '{}'],
    ],
    finish: 'tool-calls',
  },
  {
    server: 'a gateway: content in parts, a legacy function_call beside the tool call',
    body:
      events(
        chunk({ content: [{ type: 'text', text: 'a' }, { type: 'image_url' }, { type: 'text', text: 'b' }] }),
        chunk({
          function_call: { name: 'f', arguments: '{}' },
          tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
        }),
        chunk({}, 'function_call'),
      ) + DONE,
    text: 'ab',
    calls: [['f', '{}']],
    ids: ['c'],
    finish: 'tool-calls',
  },
  {
    server: 'a server whose reasoning field is told by its row',
    config: { reasoningFields: ['reasoning'] },
    body: events(chunk({ reasoning_content: 'other', reasoning: 'this' }), chunk({ content: 'a' }, 'length')) + DONE,
    reasoning: 'this',
    text: 'a',
    finish: 'max-tokens',
  },
];
