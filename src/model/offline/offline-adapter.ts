import { resolve } from 'node:path';
import type { CallConfig, StreamChunk } from '../../protocol/index.js';
import type { ModelAdapter, ModelInfo, ModelRequest, PreparedCall, ProviderInfo } from '../adapter.js';
import { LlmError } from '../errors.js';
import { checkReasoningEffort, REASONING_EFFORTS } from '../reasoning-effort.js';
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from '../retry-policy.js';
import { playDemo } from './demo-model.js';
import { ReplayModel } from './replay-model.js';
import { ScriptModel } from './script-model.js';

/** What the row may say; see `OfflineConfigDto`. */
export interface OfflineConfig {
  readonly script?: string;
  readonly replay?: string;
  readonly replayMap?: Readonly<Record<string, string>>;
}

/** Plays the requests of any number of sessions. */
interface Player {
  play(request: ModelRequest): AsyncIterable<readonly StreamChunk[]>;
}

/** Recorded waits are over: what was retried then is retried at once (decision 25). */
const REPLAY_RETRIES: RetryPolicy = { ...DEFAULT_RETRY_POLICY, initialDelayMs: 0, jitterRatio: 0 };

/**
 * Provider `offline`: work without a key, and test against answers of one's own. Models: `demo`; `script` and `replay`,
 * which play the row's files; `script:PATH` and `replay:PATH`. Paths are relative to the runtime's directory. Efforts
 * mean nothing to them, but are accepted: a route can be swapped for an offline one.
 */
export class OfflineAdapter implements ModelAdapter {
  readonly providers: readonly ProviderInfo[] = [{ id: 'offline', name: 'Offline', catalog: 'closed' }];
  readonly #models: readonly ModelInfo[] = [
    { id: 'demo', name: 'Demo', inputModalities: ['text'], reasoningEfforts: REASONING_EFFORTS },
    { id: 'script', name: 'Script', inputModalities: ['text'], reasoningEfforts: REASONING_EFFORTS },
    { id: 'replay', name: 'Replay', inputModalities: ['text', 'image'], reasoningEfforts: REASONING_EFFORTS },
  ];
  readonly #config: OfflineConfig;
  readonly #players = new Map<string, Player>();

  constructor(config: OfflineConfig) {
    this.#config = config;
  }

  models(): readonly ModelInfo[] {
    return this.#models;
  }

  prepare(config: CallConfig): PreparedCall {
    checkReasoningEffort(config.reasoningEffort, REASONING_EFFORTS);
    const { model } = config;
    if (model === 'demo') return { config, stream: playDemo };
    const [, kind, own] = /^(script|replay)(?::(.+))?$/s.exec(model) ?? [];
    if (kind !== 'script' && kind !== 'replay') {
      throw unknownModel(`no offline model "${model}": use "demo", "script", "script:PATH", "replay" or "replay:PATH"`);
    }
    const path = own ?? this.#config[kind];
    if (path === undefined || path === '') {
      const variable = `DSH_OFFLINE_${kind.toUpperCase()}`;
      throw unknownModel(
        `model "${kind}" has no ${kind === 'script' ? 'script' : 'log'}: set ${variable} to its path, or use the model "${kind}:PATH"`,
      );
    }
    const player = this.#player(kind, resolve(path));
    const stream = (request: ModelRequest): AsyncIterable<readonly StreamChunk[]> => player.play(request);
    return kind === 'script' ? { config, stream } : { config, stream, retryPolicy: REPLAY_RETRIES };
  }

  /** One for a file, as it knows how far each session has come. */
  #player(kind: 'script' | 'replay', path: string): Player {
    const key = `${kind}:${path}`;
    const known = this.#players.get(key);
    if (known !== undefined) return known;
    const player = kind === 'script' ? new ScriptModel(path) : new ReplayModel(path, this.#config.replayMap ?? {});
    this.#players.set(key, player);
    return player;
  }
}

function unknownModel(message: string): LlmError {
  return new LlmError({ code: 'UNKNOWN_MODEL', message });
}
