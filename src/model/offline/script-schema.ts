import { MAX_TIMER_MS } from '../../base/index.js';

const text = { type: 'string' };
const count = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
const milliseconds = { type: 'integer', minimum: 0, maximum: MAX_TIMER_MS };

/** JSON Schema of a script: a list of items (decision 24). */
export const SCRIPT_SCHEMA = {
  type: 'array',
  items: {
    type: 'object',
    additionalProperties: false,
    properties: {
      when: {
        type: 'object',
        additionalProperties: false,
        required: ['lastMessageIncludes'],
        properties: { lastMessageIncludes: text },
      },
      reasoning: text,
      text,
      toolCalls: {
        type: 'array',
        items: {
          type: 'object',
          additionalProperties: false,
          required: ['name', 'arguments'],
          properties: { id: text, name: text, arguments: { type: ['object', 'string'] } },
        },
      },
      usage: {
        type: 'object',
        additionalProperties: false,
        required: ['inputTokens', 'outputTokens'],
        properties: {
          inputTokens: count,
          outputTokens: count,
          cacheReadTokens: count,
          cacheWriteTokens: count,
          reasoningTokens: count,
        },
      },
      finish: { enum: ['stop', 'tool-calls', 'max-tokens'] },
      chunkSize: { type: 'integer', minimum: 1 },
      delayMs: milliseconds,
      hang: { type: 'boolean' },
      error: {
        type: 'object',
        additionalProperties: false,
        required: ['message'],
        properties: {
          status: { type: 'integer', minimum: 100, maximum: 599 },
          code: text,
          message: text,
          retryAfterMs: milliseconds,
          afterDeltas: count,
        },
      },
    },
  },
} as const;
