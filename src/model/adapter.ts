import { contributionPoint } from '../kernel/index.js';
import type { CallConfig, Message, RequestHeader, StreamChunk, ToolDefinition } from '../protocol/index.js';
import type { RetryPolicy } from './retry-policy.js';

/** A provider that an adapter serves (core §5.1). No two adapters of a runtime serve the same id. */
export interface ProviderInfo {
  /** The route id that `initialize` names. */
  readonly id: string;
  readonly name: string;
  /** `advisory`: a model that is not listed passes through. `closed`: it is refused. */
  readonly catalog: 'advisory' | 'closed';
}
/** What is known of one model of a catalog (core §5.3); a member that is absent is unknown. */
export interface ModelInfo {
  readonly id: string;
  readonly name?: string;
  /** A model without `image` is sent a line of text in place of each image. */
  readonly inputModalities: readonly ('text' | 'image')[];
  /** Tokens. */
  readonly contextWindow?: number;
  /** Most output tokens that a request may ask for by default. */
  readonly maxTokens?: number;
  /** Every effort that a request may ask for. */
  readonly reasoningEfforts: readonly string[];
}

/** One request to a model. Frozen; adapters do not mutate it. */
export interface ModelRequest {
  readonly config: CallConfig;
  readonly system?: string;
  readonly messages: readonly Message[];
  readonly tools?: readonly ToolDefinition[];
  readonly sessionId: string;
  /** Workspace of the session, absolute; absent when it has none. */
  readonly cwd?: string;
  readonly signal: AbortSignal;
}

/** A route with its defaults resolved, bound to the adapter that serves it. */
export interface PreparedCall {
  /** The config with the adapter's defaults filled in: what is logged and sent. */
  readonly config: CallConfig;
  /** Which of those the adapter supplied. */
  readonly adapterDefaults?: RequestHeader['adapterDefaults'];
  /** Tokens; undefined when unknown. */
  readonly contextWindow?: number;
  /** When the provider wants to be asked again; default: {@link DEFAULT_RETRY_POLICY}. */
  readonly retryPolicy?: RetryPolicy;
  /**
   * Streams one answer: arrays of chunks, as they arrived together, obeying core §2.6 (block indexes in first-seen
   * order, raw JSON arguments, `usage` at most once, exactly one `finish`, last). Must honour `request.signal`
   * promptly. A throw or an early end is turned into the finish by the registry. Returning early tears the call down.
   */
  stream(request: ModelRequest): AsyncIterable<readonly StreamChunk[]>;
}

/** Contribution point, runtime scope: serves one or more providers. */
export interface ModelAdapter {
  readonly providers: readonly ProviderInfo[];
  models(provider: string): readonly ModelInfo[];
  /**
   * Resolves defaults. No I/O, no credentials: `initialize` calls it to judge a route.
   *
   * @throws LlmError `UNKNOWN_MODEL` (closed catalog), `UNSUPPORTED_REASONING_EFFORT`
   */
  prepare(config: CallConfig): PreparedCall;
}
/** Registered in binding order when the registry is built; two for one provider fail the boot. */
export const ModelAdapter = contributionPoint<ModelAdapter>('ModelAdapter');
