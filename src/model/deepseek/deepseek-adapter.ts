import type { AttachmentStore } from '../../attachment/index.js';
import type { Environment, Scope, Startable } from '../../kernel/index.js';
import type { CallConfig } from '../../protocol/index.js';
import type { ModelAdapter, ModelInfo, PreparedCall, ProviderInfo } from '../adapter.js';
import { ChatClient } from '../chat-completions/chat-client.js';
import { modelInfoOf, retryPolicyOf } from '../chat-completions/chat-config.js';
import { apiKeyOf, type ChatRoute, type Endpoint, endpointOf, isHttpUrl } from '../chat-completions/chat-route.js';
import { LlmError } from '../errors.js';
import { checkReasoningEffort, REASONING_EFFORTS } from '../reasoning-effort.js';
import type { DeepSeekConfigDto } from './deepseek-config.js';
import { DEEPSEEK_NAME, deepseekQuirks, effortFields } from './deepseek-quirks.js';

/** Provider id of the DeepSeek API (core §5.3), as `initialize` names it. */
export const DEEPSEEK_PROVIDER = 'deepseek-official';

/** DeepSeek's chat completions (core §5.2–5.9). Key and endpoint are read anew for each call. */
export class DeepSeekAdapter implements ModelAdapter, Startable {
  readonly name = DEEPSEEK_NAME;
  readonly providers: readonly ProviderInfo[] = [{ id: DEEPSEEK_PROVIDER, name: DEEPSEEK_NAME, catalog: 'advisory' }];
  readonly #config: DeepSeekConfigDto;
  readonly #efforts: readonly string[];
  readonly #models: readonly ModelInfo[];
  readonly #client: ChatClient;

  /** @param env where key and endpoint are looked up */
  constructor(
    config: DeepSeekConfigDto,
    scope: Scope,
    attachments?: AttachmentStore,
    private readonly env: Environment = process.env,
  ) {
    this.#config = config;
    this.#efforts = config.thinking === 'disabled' ? ['off'] : REASONING_EFFORTS;
    this.#models = config.models.map((model) =>
      modelInfoOf(model, {
        contextWindow: config.defaultContextWindow,
        maxTokens: config.maxTokens,
        reasoningEfforts: this.#efforts,
      }),
    );
    this.#client = new ChatClient({ name: DEEPSEEK_NAME, limits: config, attachments });
    scope.defer('DeepSeek connections', () => this.#client.close());
  }

  /** Loads what calls are made with. */
  warm(): void {
    this.#client.warm(this.#endpoint().url);
  }

  models(): readonly ModelInfo[] {
    return this.#models;
  }

  prepare(asked: CallConfig): PreparedCall {
    checkReasoningEffort(asked.reasoningEffort, this.#efforts);
    const model = this.#models.find((info) => info.id === asked.model);
    const imageDetail = this.#config.models.find(({ id }) => id === asked.model)?.imageDetail;
    const effort = asked.reasoningEffort ?? this.#defaultEffort();
    const config: CallConfig = {
      ...asked,
      reasoningEffort: effort,
      maxTokens: asked.maxTokens ?? model?.maxTokens ?? this.#config.maxTokens,
    };
    return {
      config,
      adapterDefaults: {
        ...(asked.reasoningEffort === undefined && { reasoningEffort: true }),
        ...(asked.maxTokens === undefined && { maxTokens: true }),
      },
      contextWindow: model?.contextWindow ?? this.#config.defaultContextWindow,
      ...retryPolicyOf(this.#config),
      stream: (request) =>
        this.#client.stream({
          request: { ...request, config },
          quirks: deepseekQuirks(this.#config.resendReasoning, effort !== 'off'),
          effortFields: effortFields(effort),
          readsImages: model?.inputModalities.includes('image') ?? false,
          ...(imageDetail !== undefined && { imageDetail }),
          route: () => this.#route(),
        }),
    };
  }

  #defaultEffort(): string {
    return this.#config.reasoningEffort ?? (this.#config.thinking === 'disabled' ? 'off' : 'high');
  }

  #route(): ChatRoute {
    const key = apiKeyOf(this.#config.apiKeyEnv, DEEPSEEK_NAME, this.env);
    const { secrets, ...endpoint } = this.#endpoint();
    return { ...endpoint, headers: { authorization: `Bearer ${key}` }, secrets: [key, ...secrets] };
  }

  /** @throws LlmError `INVALID_BASE_URL` */
  #endpoint(): Endpoint {
    const { baseURL } = this.#config;
    const text = baseURL ?? (this.env.DEEPSEEK_BASE_URL?.trim() || 'https://api.deepseek.com');
    if (isHttpUrl(text)) return endpointOf(text);
    const source = baseURL === undefined ? 'the environment variable DEEPSEEK_BASE_URL' : 'the baseURL of its row';
    throw new LlmError({ code: 'INVALID_BASE_URL', message: `DeepSeek needs an http or https URL in ${source}` });
  }
}
