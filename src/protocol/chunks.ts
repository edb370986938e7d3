import type { ContentBlock } from './content.js';
import type { JsonValue } from './json.js';

/** What a model stream is made of (core §2.6). An index is opened once; deltas match the open block; one `finish`, last. */
export type StreamChunk =
  | { readonly type: 'block-start'; readonly index: number; readonly blockType: 'text' | 'reasoning' | 'tool-call' }
  | { readonly type: 'text-delta'; readonly index: number; readonly text: string }
  | { readonly type: 'reasoning-delta'; readonly index: number; readonly text: string }
  | {
      readonly type: 'tool-call-delta';
      readonly index: number;
      readonly id: string;
      readonly name?: string;
      readonly argumentsDelta: string;
    }
  | { readonly type: 'block-end'; readonly index: number; readonly block: ContentBlock }
  | { readonly type: 'usage'; readonly usage: TokenUsage }
  | { readonly type: 'finish'; readonly reason: FinishReason; readonly replayState?: JsonValue };

/** How one model stream ended (core §2.6). Blocks may still be open under `aborted` and `error` only. */
export type FinishReason =
  | { readonly kind: 'stop' }
  | { readonly kind: 'tool-calls' }
  | { readonly kind: 'max-tokens' }
  | { readonly kind: 'aborted'; readonly failure: LlmFailure }
  | { readonly kind: 'error'; readonly failure: LlmFailure };

/** Why a model call, or the turn around it, failed. `code` is stable (core §5.6); `status` is the HTTP status. */
export interface LlmFailure {
  readonly message: string;
  readonly code: string;
  readonly status?: number;
  /** Milliseconds the provider asked to wait. */
  readonly providerRetryAfterMs?: number;
  readonly requestId?: string;
}

/** Token counts, disjoint: the whole prompt is `inputTokens + cacheReadTokens + cacheWriteTokens`. */
export interface TokenUsage {
  /** Prompt tokens that no cache served. */
  readonly inputTokens: number;
  /** Includes `reasoningTokens`. */
  readonly outputTokens: number;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
  readonly reasoningTokens?: number;
}
