import { injectable, multiInject, optional } from 'inversify';
import type { CallConfig } from '../protocol/index.js';
import { ModelAdapter, type ModelInfo, type ModelRequest, type PreparedCall, type ProviderInfo } from './adapter.js';
import { DefaultAdapter } from './default-adapter.js';
import { LlmError } from './errors.js';
import { guardStream } from './guarded-stream.js';
import { projectHistory } from './history-projection.js';
import type { AdapterRegistry } from './registry.js';

interface Route {
  readonly info: ProviderInfo;
  readonly adapter: ModelAdapter;
}

/** Routes of the contributed adapters, in binding order, and of those registered or mounted later. */
@injectable()
export class ContributedAdapterRegistry implements AdapterRegistry {
  readonly #routes = new Map<string, Route>();
  readonly #mounted = new Map<string, ModelAdapter>();

  constructor(
    @multiInject(ModelAdapter) @optional() adapters: readonly ModelAdapter[],
    @multiInject(DefaultAdapter) @optional() private readonly defaults: readonly DefaultAdapter[],
  ) {
    for (const adapter of adapters) this.register(adapter);
  }

  providers(): readonly ProviderInfo[] {
    return [...this.#routes.values()].map((route) => route.info);
  }

  models(provider: string): readonly ModelInfo[] {
    return this.#route(provider).adapter.models(provider);
  }

  has(provider: string): boolean {
    return this.#routes.has(provider);
  }

  register(adapter: ModelAdapter): () => void {
    const routes = routesOf(adapter);
    const taken = routes.find(({ info }) => this.has(info.id));
    if (taken !== undefined) throw new LlmError(duplicate(taken.info.id));
    for (const route of routes) this.#routes.set(route.info.id, route);
    return () => {
      for (const route of routes) {
        if (this.#routes.get(route.info.id) === route) this.#routes.delete(route.info.id);
      }
    };
  }

  mountDefault(provider: string): (() => void) | undefined {
    const shipped = this.defaults.find((candidate) => candidate.provider === provider);
    if (shipped === undefined || this.has(provider)) return undefined;
    const adapter = this.#mounted.get(provider) ?? shipped.create();
    this.#mounted.set(provider, adapter);
    return this.register(adapter);
  }

  prepare(config: CallConfig): PreparedCall {
    const { adapter } = this.#route(config.provider);
    const call = adapter.prepare(config);
    const model = adapter.models(config.provider).find((info) => info.id === config.model);
    const target = { provider: config.provider, readsImages: model?.inputModalities.includes('image') ?? true };
    return {
      ...call,
      stream: (request: ModelRequest) =>
        guardStream(
          () => call.stream(Object.freeze({ ...request, messages: projectHistory(request.messages, target) })),
          request.signal,
        ),
    };
  }

  #route(provider: string): Route {
    const route = this.#routes.get(provider);
    if (route !== undefined) return route;
    throw new LlmError({ code: 'NO_ADAPTER', message: `no adapter registered for provider "${provider}"` });
  }
}

function routesOf(adapter: ModelAdapter): readonly Route[] {
  if (typeof adapter?.models !== 'function' || typeof adapter.prepare !== 'function') {
    throw new LlmError(invalid('it needs the methods "models" and "prepare"'));
  }
  if (!Array.isArray(adapter.providers) || adapter.providers.length === 0) {
    throw new LlmError(invalid('it names no provider'));
  }
  const ids = new Set<string>();
  return adapter.providers.map((info: ProviderInfo) => {
    if (typeof info?.id !== 'string' || info.id === '') throw new LlmError(invalid('a provider has no id'));
    if (info.catalog !== 'advisory' && info.catalog !== 'closed') {
      throw new LlmError(invalid(`the catalog of provider "${info.id}" must be "advisory" or "closed"`));
    }
    if (ids.has(info.id)) throw new LlmError(duplicate(info.id));
    ids.add(info.id);
    return { info, adapter };
  });
}

function invalid(why: string): { code: string; message: string } {
  return { code: 'INVALID_ADAPTER', message: `not a usable model adapter: ${why}` };
}

function duplicate(provider: string): { code: string; message: string } {
  return { code: 'DUPLICATE_ADAPTER', message: `an adapter for provider "${provider}" is registered already` };
}
