import { inject, injectable, multiInject, optional } from 'inversify';
import { Logger } from '../logging/index.js';
import type { ToolDefinition } from '../protocol/index.js';
import { Session } from '../session/index.js';
import { parseArguments, readArguments } from './call-arguments.js';
import { runBody } from './call-body.js';
import { failure, success } from './call-result.js';
import { AbortError, UnknownToolError } from './errors.js';
import type { ToolCallRequest, ToolExecutor, ToolOutcome } from './executor.js';
import { Tool } from './tool.js';
import { ToolFilter } from './tool-filter.js';
import { indexTools } from './tool-index.js';

/** The tools that the session and the runtime contribute. */
@injectable()
export class SessionToolExecutor implements ToolExecutor {
  readonly definitions: readonly ToolDefinition[];
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #logger: Logger;

  /** @throws what {@link indexTools} throws */
  constructor(
    @multiInject(Tool, { chained: true }) @optional() tools: readonly Tool[],
    @inject(Session) private readonly session: Session,
    @inject(ToolFilter) filter: ToolFilter,
    @inject(Logger) logger: Logger,
  ) {
    this.#tools = indexTools(filter.permitted(tools));
    this.#logger = logger.child('tools');
    this.definitions = [...this.#tools.values()].map(({ name, description, parameters }) => ({
      name,
      description,
      parameters,
    }));
  }

  isConcurrencySafe({ name, arguments: text }: ToolCallRequest): boolean {
    const tool = this.#tools.get(name);
    if (tool?.isConcurrencySafe === undefined) return false;
    try {
      return tool.isConcurrencySafe(parseArguments(tool, text)) === true;
    } catch {
      return false;
    }
  }

  async execute(request: ToolCallRequest, signal: AbortSignal): Promise<ToolOutcome> {
    const { name, callId } = request;
    this.#logger.debug('tool call', { tool: name, callId });
    try {
      return await this.#execute(request, signal);
    } catch (thrown) {
      this.#logger.debug('tool call failed', { tool: name, callId, error: thrown });
      return failure(thrown);
    }
  }

  async #execute({ name, callId, arguments: text }: ToolCallRequest, signal: AbortSignal): Promise<ToolOutcome> {
    if (signal.aborted) throw AbortError.beforeDispatch();
    const tool = this.#tools.get(name);
    if (tool === undefined) throw new UnknownToolError(name);
    const args = await readArguments(tool, text);
    if (signal.aborted) throw AbortError.beforeDispatch();
    const value = await runBody(tool, args, {
      sessionId: this.session.id,
      callId,
      signal,
      cwd: this.session.header.cwd ?? process.cwd(),
      logger: this.#logger.child(name),
    });
    const outcome = success(tool, value);
    return tool.concludesTurn === true ? { ...outcome, concludesTurn: true } : outcome;
  }
}
