import { type Container, ContainerModule, type ContainerModuleLoadOptions, type ServiceIdentifier } from 'inversify';
import { CodedError } from '../base/index.js';
import { isContributionPoint, tokenName } from './tokens.js';

/**
 * Wraps a session module: Inversify lets a child shadow its parent's services, and `unbind` in a child even disposes
 * the parent's instance. A session may contribute and bind services of its own, nothing else.
 *
 * @throws CodedError `SCOPE_FENCE` naming the module and the token
 */
export function fence(module: ContainerModule, container: Container, owner: string): ContainerModule {
  const refuse = (verb: string) => (id: ServiceIdentifier) => {
    throw new CodedError('SCOPE_FENCE', `session part of module "${owner}" must not ${verb} ${tokenName(id)}`);
  };
  return new ContainerModule((options) => {
    const fenced: ContainerModuleLoadOptions = {
      ...options,
      bind: ((id: ServiceIdentifier) => {
        const shadows = !isContributionPoint(known(id)) && container.isBound(id);
        if (shadows) refuse('bind again what is bound already:')(id);
        return options.bind(id);
      }) as ContainerModuleLoadOptions['bind'],
      unbind: refuse('unbind') as unknown as ContainerModuleLoadOptions['unbind'],
      unbindAsync: refuse('unbind') as unknown as ContainerModuleLoadOptions['unbindAsync'],
      rebind: refuse('rebind') as unknown as ContainerModuleLoadOptions['rebind'],
      rebindAsync: refuse('rebind') as unknown as ContainerModuleLoadOptions['rebindAsync'],
    };
    return module.load(fenced);
  });
}

/** JavaScript does not say that an import is misspelled: its token is undefined then. */
function known(id: ServiceIdentifier | undefined): ServiceIdentifier {
  if (id !== undefined) return id;
  throw new CodedError('UNKNOWN_TOKEN', 'it binds undefined: nothing of that name is exported where the token is from');
}

/** What one module did to a container. */
export interface Bindings {
  /** In order, one for each time. */
  readonly bound: ServiceIdentifier[];
  /** Whose bindings before it were taken away, for one of its own. */
  readonly rebound: ServiceIdentifier[];
  /** Whose bindings before it were taken away; they may be among `bound` as well. */
  readonly unbound: ServiceIdentifier[];
}

/** Wraps a module so that what it binds is added to `into`: Inversify cannot enumerate its bindings. */
export function recordBindings(module: ContainerModule, into: Bindings): ContainerModule {
  return new ContainerModule((options) =>
    module.load({
      ...options,
      bind: ((id: ServiceIdentifier) => {
        into.bound.push(known(id));
        return options.bind(id);
      }) as ContainerModuleLoadOptions['bind'],
      rebind: ((id: ServiceIdentifier) => {
        into.rebound.push(known(id));
        return options.rebind(id);
      }) as ContainerModuleLoadOptions['rebind'],
      rebindAsync: (async (id: ServiceIdentifier) => {
        into.rebound.push(known(id));
        return options.rebindAsync(id);
      }) as ContainerModuleLoadOptions['rebindAsync'],
      unbind: (id) => {
        if (isService(id)) into.unbound.push(id);
        options.unbind(id);
      },
      unbindAsync: async (id) => {
        if (isService(id)) into.unbound.push(id);
        await options.unbindAsync(id);
      },
    }),
  );
}

/** The other kind of identifier names one of the module's own bindings. */
function isService(id: ServiceIdentifier | object): id is ServiceIdentifier {
  return typeof id !== 'object';
}

/** What a module would bind, found out without a container; nothing is built. */
export async function bindingsOf(module: ContainerModule): Promise<Bindings> {
  const into: Bindings = { bound: [], rebound: [], unbound: [] };
  const fluent: unknown = new Proxy(() => undefined, {
    get: (_, key) => (key === 'then' ? undefined : fluent),
    apply: () => fluent,
  });
  const nothing = (): undefined => undefined;
  const options = {
    bind: () => fluent,
    rebind: () => fluent,
    rebindAsync: async () => fluent,
    isBound: () => false,
    onActivation: nothing,
    onDeactivation: nothing,
    unbind: nothing,
    unbindAsync: async () => undefined,
  } as unknown as ContainerModuleLoadOptions;
  await recordBindings(module, into).load(options);
  return into;
}
