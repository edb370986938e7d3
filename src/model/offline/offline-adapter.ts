import { resolve } from 'node:path';
import type { CallConfig, StreamChunk } from '../../protocol/index.js';
import type { ModelAdapter, ModelInfo, ModelRequest, PreparedCall, ProviderInfo } from '../adapter.js';
import { LlmError } from '../errors.js';
import { checkReasoningEffort, REASONING_EFFORTS } from '../reasoning-effort.js';
import { playDemo } from './demo-model.js';
import { ScriptModel } from './script-model.js';

const SCRIPT_PREFIX = 'script:';

/**
 * Provider `offline`: work without a key, and test against answers of one's own. Models: `demo`; `script`, which
 * plays the row's script file; and `script:PATH`. Paths are relative to the runtime's directory. Efforts mean nothing to
 * them, but are accepted: a route can be swapped for an offline one.
 */
export class OfflineAdapter implements ModelAdapter {
  readonly providers: readonly ProviderInfo[] = [{ id: 'offline', name: 'Offline', catalog: 'closed' }];
  readonly #models: readonly ModelInfo[] = [
    { id: 'demo', name: 'Demo', inputModalities: ['text'], reasoningEfforts: REASONING_EFFORTS },
    { id: 'script', name: 'Script', inputModalities: ['text'], reasoningEfforts: REASONING_EFFORTS },
  ];
  readonly #script: string | undefined;
  readonly #scripts = new Map<string, ScriptModel>();

  constructor(config: { readonly script?: string }) {
    this.#script = config.script;
  }

  models(): readonly ModelInfo[] {
    return this.#models;
  }

  prepare(config: CallConfig): PreparedCall {
    checkReasoningEffort(config.reasoningEffort, REASONING_EFFORTS);
    return { config, stream: this.#player(config.model) };
  }

  #player(model: string): (request: ModelRequest) => AsyncIterable<readonly StreamChunk[]> {
    if (model === 'demo') return playDemo;
    const path =
      model === 'script'
        ? this.#script
        : model.startsWith(SCRIPT_PREFIX)
          ? model.slice(SCRIPT_PREFIX.length)
          : undefined;
    if (path) {
      const script = this.#scriptAt(resolve(path));
      return (request) => script.play(request);
    }
    const message =
      model === 'script'
        ? 'model "script" has no script: set DSH_OFFLINE_SCRIPT to its path, or use the model "script:PATH"'
        : `no offline model "${model}": use "demo", "script" or "script:PATH"`;
    throw new LlmError({ code: 'UNKNOWN_MODEL', message });
  }

  #scriptAt(path: string): ScriptModel {
    const known = this.#scripts.get(path);
    if (known !== undefined) return known;
    const script = new ScriptModel(path);
    this.#scripts.set(path, script);
    return script;
  }
}
