import { randomUUID } from 'node:crypto';
import { inject, injectable } from 'inversify';
import { AgentRegistry } from '../../agent/index.js';
import type { ContentBlock, PromptBlock, SessionPromptParams, SessionPromptResult } from '../../protocol/index.js';
import { IsSessionId } from '../constraints.js';
import { IsContentBlocks } from '../content-blocks.js';
import type { MethodHandler } from '../method-handler.js';
import { hasImages, PromptImages } from '../prompt-images.js';
import { ServerState } from '../server-state.js';

/** Rules of `session/prompt` (decisions 5, 13). */
export class SessionPromptParamsDto implements SessionPromptParams {
  @IsSessionId()
  sessionId!: string;

  @IsContentBlocks()
  contentBlocks!: readonly PromptBlock[];
}

/**
 * `session/prompt` (core §1.5): the answer is a durable receipt and never waits for the turn. The prompts of a session
 * are queued in their order, however long the images of one take to be stored.
 */
@injectable()
export class SessionPromptHandler implements MethodHandler<SessionPromptParamsDto, SessionPromptResult> {
  readonly method = 'session/prompt';
  readonly params = SessionPromptParamsDto;
  /** By session: when the last prompt with images, or behind one, is queued or refused. Never rejects. */
  readonly #held = new Map<string, Promise<unknown>>();

  constructor(
    @inject(ServerState) private readonly state: ServerState,
    @inject(AgentRegistry) private readonly agents: AgentRegistry,
    @inject(PromptImages) private readonly images: PromptImages,
  ) {}

  async handle(params: SessionPromptParamsDto): Promise<SessionPromptResult> {
    const { sessionId, contentBlocks } = params;
    const before = this.#held.get(sessionId);
    if (before === undefined && !hasImages(contentBlocks)) return this.#queue(params);
    const queued = Promise.resolve(before).then(() => this.#queue(params));
    const settled = queued.catch(() => undefined);
    this.#held.set(sessionId, settled);
    try {
      return await queued;
    } finally {
      if (this.#held.get(sessionId) === settled) this.#held.delete(sessionId);
    }
  }

  async #queue({ sessionId, contentBlocks }: SessionPromptParamsDto): Promise<SessionPromptResult> {
    const { cwd, route } = this.state.require();
    const messageId = randomUUID();
    try {
      // Without images nothing is awaited here: a shutdown in the same packet comes after the prompt.
      const content = hasImages(contentBlocks)
        ? await this.images.keep(contentBlocks)
        : (contentBlocks as readonly ContentBlock[]);
      const agent = await this.agents.open({ id: sessionId, cwd, route });
      await agent.followup({ id: messageId, role: 'user', content, source: { kind: 'user' } });
    } catch (thrown) {
      this.state.assertOpen();
      throw thrown;
    }
    return { messageId };
  }
}
