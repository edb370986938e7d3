import type { AttachmentStore } from '../../attachment/index.js';
import { MIN_SECRET_CHARS } from '../../base/index.js';
import type { Environment, Scope, Startable } from '../../kernel/index.js';
import type { CallConfig, JsonObject, JsonValue } from '../../protocol/index.js';
import type { ModelAdapter, ModelInfo, PreparedCall, ProviderInfo } from '../adapter.js';
import { ChatClient } from '../chat-completions/chat-client.js';
import { modelInfoOf, retryPolicyOf } from '../chat-completions/chat-config.js';
import { apiKeyOf, type ChatRoute, endpointOf } from '../chat-completions/chat-route.js';
import type { ChatQuirks } from '../chat-completions/quirks.js';
import { LlmError } from '../errors.js';
import { checkReasoningEffort } from '../reasoning-effort.js';
import type { OpenAiCompatibleConfigDto } from './openai-compatible-config.js';

/** Any server that speaks chat completions, as its row describes it. The key is read anew for each call. */
export class OpenAiCompatibleAdapter implements ModelAdapter, Startable {
  readonly name: string;
  readonly providers: readonly ProviderInfo[];
  readonly #config: OpenAiCompatibleConfigDto;
  readonly #efforts: readonly string[];
  readonly #models: readonly ModelInfo[];
  readonly #quirks: ChatQuirks;
  readonly #client: ChatClient;

  /** @param env where the key is looked up */
  constructor(
    config: OpenAiCompatibleConfigDto,
    scope: Scope,
    attachments?: AttachmentStore,
    private readonly env: Environment = process.env,
  ) {
    this.name = config.name ?? config.provider;
    this.providers = [{ id: config.provider, name: this.name, catalog: config.catalog }];
    this.#config = config;
    this.#efforts = Object.keys(config.reasoningEffortValues);
    this.#models = config.models.map((model) => modelInfoOf(model, { reasoningEfforts: this.#efforts }));
    this.#quirks = quirksOf(config, this.name);
    this.#client = new ChatClient({ name: this.name, limits: config, attachments });
    scope.defer(`${this.name} connections`, () => this.#client.close());
  }

  /** Loads what calls are made with. */
  warm(): void {
    this.#client.warm(endpointOf(this.#config.baseURL).url);
  }

  models(): readonly ModelInfo[] {
    return this.#models;
  }

  prepare(asked: CallConfig): PreparedCall {
    const model = this.#models.find((info) => info.id === asked.model);
    if (model === undefined && this.#config.catalog === 'closed') throw this.#unknown(asked.model);
    checkReasoningEffort(asked.reasoningEffort, model?.reasoningEfforts ?? this.#efforts);
    const imageDetail = this.#config.models.find(({ id }) => id === asked.model)?.imageDetail;
    const maxTokens = asked.maxTokens ?? model?.maxTokens ?? this.#config.defaultMaxTokens;
    const config: CallConfig = { ...asked, ...(maxTokens !== undefined && { maxTokens }) };
    return {
      config,
      adapterDefaults: maxTokens !== asked.maxTokens ? { maxTokens: true } : {},
      ...(model?.contextWindow !== undefined && { contextWindow: model.contextWindow }),
      ...retryPolicyOf(this.#config),
      stream: (request) =>
        this.#client.stream({
          request: { ...request, config },
          quirks: this.#quirks,
          effortFields: this.#effortFields(asked.reasoningEffort),
          readsImages: model?.inputModalities.includes('image') ?? false,
          ...(imageDetail !== undefined && { imageDetail }),
          route: () => this.#route(),
        }),
    };
  }

  #effortFields(effort: string | undefined): JsonObject {
    if (effort === undefined) return {};
    const { reasoningEffortField, reasoningEffortValues } = this.#config;
    const sent = new Map(Object.entries(reasoningEffortValues)).get(effort) ?? effort;
    const [field = '', ...inner] = reasoningEffortField.split('.');
    return { [field]: inner.reduceRight<JsonValue>((value, name) => ({ [name]: value }), sent) };
  }

  #route(): ChatRoute {
    const { baseURL, apiKeyEnv, headers } = this.#config;
    const key = apiKeyEnv === undefined ? undefined : apiKeyOf(apiKeyEnv, this.name, this.env);
    const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
    const values = Object.values(headers).filter((value) => value.length >= MIN_SECRET_CHARS);
    const { secrets, ...endpoint } = endpointOf(baseURL);
    return {
      ...endpoint,
      headers: { ...Object.fromEntries(named), ...(key !== undefined && { authorization: `Bearer ${key}` }) },
      secrets: [...(key === undefined ? [] : [key]), ...values, ...secrets],
    };
  }

  #unknown(model: string): LlmError {
    const listed = this.#models.map(({ id }) => `"${id}"`).join(', ') || 'none';
    return new LlmError({
      code: 'UNKNOWN_MODEL',
      message: `${this.name} serves no model "${model}"; it lists ${listed}`,
    });
  }
}

function quirksOf(config: OpenAiCompatibleConfigDto, name: string): ChatQuirks {
  return {
    name,
    maxTokensField: config.maxTokensField,
    systemRole: config.systemRole,
    streamUsage: config.streamUsage,
    needsDone: config.doneMarker === 'required',
    reasoningFields: config.reasoningFields,
    resendReasoning: config.resendReasoning,
    resendReasoningAs: config.resendReasoningAs,
    emptyReasoning: false,
    inventCallIds: true,
  };
}
