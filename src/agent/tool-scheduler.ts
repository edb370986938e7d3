import { randomUUID } from 'node:crypto';
import { inject, injectable } from 'inversify';
import type { ToolCallBlock } from '../protocol/index.js';
import { Session } from '../session/index.js';
import { type ToolCallRequest, ToolExecutor, type ToolOutcome } from '../tool/index.js';
import type { Activity } from './activity.js';
import { checkpoint } from './checkpoint.js';
import { failureOf } from './failure.js';
import type { StepPosition } from './step-position.js';

/** Runs the tool calls of one step, in model order, one at a time (core §3.5). */
@injectable()
export class ToolScheduler {
  constructor(
    @inject(Session) private readonly session: Session,
    @inject(ToolExecutor) private readonly tools: ToolExecutor,
  ) {}

  /** Every call gets its `tool/call` and its `tool/result`; after an abort the ones not started get it unrun. */
  async run(calls: readonly ToolCallBlock[], at: StepPosition, activity: Activity): Promise<void> {
    for (const call of calls) await this.#run(call, at, activity);
  }

  async #run({ id, name, arguments: text }: ToolCallBlock, at: StepPosition, activity: Activity): Promise<void> {
    const { seq } = this.session.append('tool/call', { ...at, callId: id, name, arguments: text });
    await checkpoint(this.session, activity);
    const outcome = await this.#execute({ callId: id, name, arguments: text }, activity);
    this.session.append(
      'tool/result',
      {
        ...at,
        message: {
          id: randomUUID(),
          role: 'user',
          content: [{ type: 'tool-result', toolCallId: id, content: outcome.content, isError: outcome.isError }],
          source: { kind: 'tool', callId: id },
        },
        ...(outcome.error !== undefined && { error: outcome.error }),
      },
      { surfaceOp: 'append', sourceEventSeqs: [seq] },
    );
  }
  /** An executor that throws has broken its contract: the turn fails, but no call stays without its result. */
  async #execute(request: ToolCallRequest, activity: Activity): Promise<ToolOutcome> {
    try {
      return await this.tools.execute(request, activity.signal);
    } catch (thrown) {
      const error = failureOf(thrown);
      activity.abort({ kind: 'error', error });
      return { content: [{ type: 'text', text: `Error: ${error.message}` }], isError: true };
    }
  }
}
