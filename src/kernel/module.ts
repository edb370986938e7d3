import type { ContainerModule, Newable } from 'inversify';
import { ConfigError } from './config-error.js';
import { type ConfigKey, configKeysOf } from './config-keys.js';
import { parseDto } from './dto-config.js';
import { type JsonSchemaConfig, parseJsonSchema } from './json-schema-config.js';

/** What a module says of itself (decision 31). `C` is its parsed config. */
export interface ModuleSpec<C extends object> {
  /** Name in the catalog, and in messages. */
  readonly name: string;
  /** A class-validator DTO class, or a JSON Schema of an object. Without one the module takes no config. */
  readonly config?: Newable<C> | JsonSchemaConfig;
  /** What it binds in the runtime's scope. */
  readonly runtime?: ContainerModule | ((config: C) => ContainerModule);
  /** What it binds in each session's fenced scope; synchronous bindings only. */
  readonly session?: ContainerModule | ((config: C) => ContainerModule);
}

/** A module as the host loads it; its config was closed over on the author's side. */
export interface ModuleDefinition {
  readonly kind: 'dsh-module';
  readonly name: string;
  /**
   * Judges the raw config of one row and gives the parts to load.
   *
   * @throws ConfigError listing every violation with its path
   */
  configure(raw: unknown): Promise<ConfiguredModule>;
  /** What its config may hold, for the module reference. */
  configKeys(): readonly ConfigKey[];
}

/** The two parts of a module under one row's config; undefined where it has none. */
export interface ConfiguredModule {
  readonly runtime: ContainerModule | undefined;
  readonly session: ContainerModule | undefined;
}

/**
 * Makes a module. The config class is judged by the author's own copy of class-validator and class-transformer
 * (their metadata is per copy), which is why the result carries a closure and no class.
 *
 * @throws TypeError `config` is neither a class nor a schema of an object
 */
export function defineModule<C extends object = Record<string, never>>(spec: ModuleSpec<C>): ModuleDefinition {
  const { config } = spec;
  if (config !== undefined && typeof config !== 'function' && config?.type !== 'object') {
    const module = JSON.stringify(spec.name);
    throw new TypeError(`the config of ${module} must be a class, or a JSON Schema with type: 'object'`);
  }
  return {
    kind: 'dsh-module',
    name: spec.name,
    configKeys: () => configKeysOf(spec.config),
    async configure(raw) {
      const config = (await parseConfig(spec, raw ?? {})) as C;
      return { runtime: part('runtime', spec.runtime, config), session: part('session', spec.session, config) };
    },
  };
}

/** A function that forgets its `return`, say, would contribute nothing, in silence. */
function part<C>(
  name: string,
  of: ContainerModule | ((config: C) => ContainerModule) | undefined,
  config: C,
): ContainerModule | undefined {
  if (of === undefined) return undefined;
  const made: Partial<ContainerModule> | undefined = typeof of === 'function' ? of(config) : of;
  if (typeof made?.load === 'function') return made as ContainerModule;
  throw new TypeError(`its ${name} part is no ContainerModule, nor a function that returns one`);
}

function refuseConfig(raw: unknown): object {
  const keys = typeof raw === 'object' && raw !== null ? Object.keys(raw) : ['config'];
  if (keys.length === 0) return {};
  throw new ConfigError(keys.map((path) => ({ path, message: 'is unknown: the module takes no config' })));
}

async function parseConfig<C extends object>(spec: ModuleSpec<C>, raw: unknown): Promise<object> {
  const { config } = spec;
  if (config === undefined) return refuseConfig(raw);
  return typeof config === 'function' ? parseDto(config, raw) : parseJsonSchema(config, raw);
}
