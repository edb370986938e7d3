import { randomUUID } from 'node:crypto';
import { inject, injectable } from 'inversify';
import { AgentRegistry } from '../../agent/index.js';
import type { ContentBlock, PromptBlock, SessionPromptParams, SessionPromptResult } from '../../protocol/index.js';
import { IsSessionId } from '../constraints.js';
import { IsContentBlocks } from '../content-blocks.js';
import type { MethodHandler } from '../method-handler.js';
import { ServerState } from '../server-state.js';

/** Rules of `session/prompt` (decisions 5, 13). */
export class SessionPromptParamsDto implements SessionPromptParams {
  @IsSessionId()
  sessionId!: string;

  @IsContentBlocks()
  contentBlocks!: readonly PromptBlock[];
}

/** `session/prompt` (core §1.5): the answer is a durable receipt and never waits for the turn. */
@injectable()
export class SessionPromptHandler implements MethodHandler<SessionPromptParamsDto, SessionPromptResult> {
  readonly method = 'session/prompt';
  readonly params = SessionPromptParamsDto;

  constructor(
    @inject(ServerState) private readonly state: ServerState,
    @inject(AgentRegistry) private readonly agents: AgentRegistry,
  ) {}

  async handle({ sessionId, contentBlocks }: SessionPromptParamsDto): Promise<SessionPromptResult> {
    const { cwd, route } = this.state.require();
    const messageId = randomUUID();
    // Judged by the guard; block types that nobody here knows travel verbatim.
    const content = contentBlocks as unknown as readonly ContentBlock[];
    try {
      const agent = await this.agents.open({ id: sessionId, cwd, route });
      await agent.followup({ id: messageId, role: 'user', content, source: { kind: 'user' } });
    } catch (thrown) {
      this.state.assertOpen();
      throw thrown;
    }
    return { messageId };
  }
}
