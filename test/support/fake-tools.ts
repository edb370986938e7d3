import type { ToolDefinition } from '../../src/protocol/index.js';
import type { ToolCallRequest, ToolExecutor, ToolOutcome } from '../../src/tool/index.js';

/** An executor whose calls a test answers; it keeps the contract about an aborted signal. */
export class FakeTools implements ToolExecutor {
  definitions: readonly ToolDefinition[] = [
    { name: 'echo', description: 'Says it again.', parameters: { type: 'object' } },
  ];
  /** The calls whose bodies ran, by id. */
  readonly started: string[] = [];
  body: (request: ToolCallRequest, signal: AbortSignal) => ToolOutcome | Promise<ToolOutcome> = ({ arguments: text }) =>
    outcome(text);

  isSafe: (request: ToolCallRequest) => boolean = () => false;

  isConcurrencySafe(request: ToolCallRequest): boolean {
    return this.isSafe(request);
  }

  async execute(request: ToolCallRequest, signal: AbortSignal): Promise<ToolOutcome> {
    if (signal.aborted) return ABORTED_BEFORE_DISPATCH;
    this.started.push(request.callId);
    return this.body(request, signal);
  }
}

export function outcome(text: string, isError = false): ToolOutcome {
  return { content: [{ type: 'text', text }], isError };
}

/** A body that ends with the abort only. */
export function untilAborted(signal: AbortSignal): Promise<ToolOutcome> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(ABORTED), { once: true });
  });
}

export const ABORTED: ToolOutcome = {
  ...outcome('Error: tool call aborted', true),
  error: { name: 'AbortError', code: 'ABORTED' },
};
export const ABORTED_BEFORE_DISPATCH: ToolOutcome = {
  ...outcome('Error: tool call aborted before dispatch', true),
  error: { name: 'AbortError', code: 'ABORTED_BEFORE_DISPATCH' },
};
