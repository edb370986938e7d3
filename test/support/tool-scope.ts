import { ContainerModule } from 'inversify';
import { type ModuleDefinition, Scope } from '../../src/kernel/index.js';
import { Logger } from '../../src/logging/index.js';
import { Session } from '../../src/session/index.js';
import { Tool, ToolExecutor, type ToolOutcome } from '../../src/tool/index.js';
import { toolModule } from '../../src/tool/tool.module.js';

export interface ToolScopeOptions {
  readonly modules?: readonly { readonly module: ModuleDefinition; readonly config?: unknown }[];
  readonly runtimeTools?: readonly Tool[];
  readonly sessionTools?: readonly Tool[];
  readonly sessionId?: string;
  readonly cwd?: string;
}

/** A session's tools as the modules bind them, without an agent around. */
export class ToolScope {
  readonly scope: Scope;
  readonly executor: ToolExecutor;
  #calls = 0;

  private constructor(
    scope: Scope,
    private readonly root: Scope,
  ) {
    this.scope = scope;
    this.executor = scope.get(ToolExecutor);
  }

  static async open(options: ToolScopeOptions = {}): Promise<ToolScope> {
    const { modules = [], runtimeTools = [], sessionTools = [], sessionId = 's-1', cwd = process.cwd() } = options;
    const root = Scope.root('runtime');
    const scope = root.child(`session ${sessionId}`);
    const header = { type: 'session', version: 0, id: sessionId, createdAt: 0, cwd, delegationDepth: 0 } as const;
    root.provide(Logger, silentLogger);
    // Tools look at nothing else of it.
    scope.provide(Session, { id: sessionId, header } as Session);
    await root.load(contribute(runtimeTools));
    scope.loadFenced(contribute(sessionTools), 'test');
    for (const { module, config } of [{ module: toolModule, config: undefined }, ...modules]) {
      const { runtime, session } = await module.configure(config);
      if (runtime !== undefined) await root.load(runtime);
      if (session !== undefined) scope.loadFenced(session, module.name);
    }
    return new ToolScope(scope, root);
  }

  /** Runs one call as the agent would. */
  call(name: string, args: object | string, signal = new AbortController().signal): Promise<ToolOutcome> {
    const text = typeof args === 'string' ? args : JSON.stringify(args);
    return this.executor.execute({ callId: `c-${++this.#calls}`, name, arguments: text }, signal);
  }

  /** Ends the session, then the runtime. */
  async close(): Promise<void> {
    await this.scope.close();
    await this.root.close();
  }
}

/** The text of an outcome that consists of one text block. */
export function textOf(outcome: ToolOutcome): string {
  const [block, ...others] = outcome.content;
  if (block?.type !== 'text' || others.length > 0) throw new Error(`not one text block: ${JSON.stringify(outcome)}`);
  return block.text;
}

function contribute(tools: readonly Tool[]): ContainerModule {
  return new ContainerModule(({ bind }) => {
    for (const tool of tools) bind(Tool).toConstantValue(tool);
  });
}

export const silentLogger: Logger = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
  child: () => silentLogger,
  isEnabled: () => false,
};
