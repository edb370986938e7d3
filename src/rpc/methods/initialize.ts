import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { IsOptional } from 'class-validator';
import { inject, injectable } from 'inversify';
import type { AgentRoute } from '../../agent/index.js';
import { errorCode, packageInfo } from '../../base/index.js';
import { CurrentScope, type Scope } from '../../kernel/index.js';
import { Logger } from '../../logging/index.js';
import { AdapterRegistry } from '../../model/index.js';
import {
  type InitializeParams,
  type InitializeResult,
  JsonRpcResponseError,
  type ParamsViolation,
  SERVER_NAME,
} from '../../protocol/index.js';
import { RuntimeControl } from '../channel.js';
import { IsNonEmptyString, IsPositiveSafeInteger } from '../constraints.js';
import type { MethodHandler } from '../method-handler.js';
import { ServerState } from '../server-state.js';

/**
 * Rules of `initialize`, with the reference's texts (decision 3); `null` counts as absent where a member is optional.
 */
export class InitializeParamsDto implements InitializeParams {
  @IsNonEmptyString({ message: 'initialize cwd must be a non-empty string' })
  cwd!: string;

  @IsNonEmptyString({ message: 'initialize provider must be a non-empty string' })
  provider!: string;

  @IsNonEmptyString({ message: 'initialize model must be a non-empty string' })
  model!: string;

  @IsOptional()
  @IsNonEmptyString({ message: 'initialize reasoningEffort must be a non-empty string' })
  reasoningEffort?: string;

  @IsOptional()
  @IsPositiveSafeInteger({ message: 'initialize maxTokens must be a positive safe integer' })
  maxTokens?: number;
}

/** `initialize` (core §1.5, decision 8): everything is judged before anything is kept; the first success pins. */
@injectable()
export class InitializeHandler implements MethodHandler<InitializeParamsDto, InitializeResult> {
  readonly method = 'initialize';
  readonly params = InitializeParamsDto;

  constructor(
    @inject(ServerState) private readonly state: ServerState,
    @inject(AdapterRegistry) private readonly adapters: AdapterRegistry,
    @inject(RuntimeControl) private readonly control: RuntimeControl,
    @inject(CurrentScope) private readonly scope: Scope,
    @inject(Logger) private readonly logger: Logger,
  ) {}

  async handle(params: InitializeParamsDto): Promise<InitializeResult> {
    this.state.assertOpen();
    const wanted = { cwd: resolve(params.cwd), route: routeOf(params) };
    const { pinned } = this.state;
    if (pinned !== undefined) {
      if (!isSame(pinned, wanted)) throw JsonRpcResponseError.invalidRequest('already initialized');
      return pinned.result;
    }
    const done = await this.state.initialize(async () => {
      await assertDirectory(wanted.cwd);
      this.#claimRoute(wanted.route);
      return { ...wanted, result: { serverInfo: { name: SERVER_NAME, version: packageInfo().version } } };
    });
    this.logger.child('rpc').info('initialized', { cwd: wanted.cwd, ...wanted.route });
    this.control.initialized();
    return done.result;
  }

  /** A route that nothing serves mounts the shipped adapter, owned by this server (decision 9). */
  #claimRoute(route: AgentRoute): void {
    const release = this.adapters.mountDefault(route.provider);
    try {
      this.adapters.prepare(route);
    } catch (thrown) {
      release?.();
      throw invalid(memberOf(thrown), errorCode(thrown) ?? 'route', (thrown as Error).message);
    }
    if (release !== undefined) this.scope.defer(`adapter of ${route.provider}`, release);
  }
}

function routeOf({ provider, model, reasoningEffort, maxTokens }: InitializeParamsDto): AgentRoute {
  return {
    provider,
    model,
    ...(reasoningEffort != null && { reasoningEffort }),
    ...(maxTokens != null && { maxTokens }),
  };
}

function isSame(one: { cwd: string; route: AgentRoute }, other: { cwd: string; route: AgentRoute }): boolean {
  return one.cwd === other.cwd && JSON.stringify(one.route) === JSON.stringify(other.route);
}

async function assertDirectory(cwd: string): Promise<void> {
  const stats = await stat(cwd).catch((thrown: Error) => thrown);
  if (stats instanceof Error) {
    const missing = errorCode(stats) === 'ENOENT';
    const why = missing ? 'does not exist' : `cannot be used: ${stats.message}`;
    throw invalid('cwd', 'isDirectory', `initialize cwd ${JSON.stringify(cwd)} ${why}`);
  }
  if (!stats.isDirectory()) {
    throw invalid('cwd', 'isDirectory', `initialize cwd ${JSON.stringify(cwd)} is not a directory`);
  }
}

const MEMBERS: Readonly<Record<string, string>> = {
  NO_ADAPTER: 'provider',
  UNSUPPORTED_REASONING_EFFORT: 'reasoningEffort',
};

function memberOf(thrown: unknown): string {
  return MEMBERS[errorCode(thrown) ?? ''] ?? 'model';
}

function invalid(path: string, constraint: string, message: string): JsonRpcResponseError {
  const violation: ParamsViolation = { path, constraint, message };
  return JsonRpcResponseError.invalidParams([violation]);
}
