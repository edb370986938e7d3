import { Deferred, MAX_TIMER_MS } from '../base/index.js';
import type { JsonObject } from '../protocol/index.js';
import { AbortError, ToolTimeoutError } from './errors.js';
import type { Tool, ToolCallContext } from './tool.js';

/**
 * Runs a tool's body and gives its value.
 *
 * An abort reaches the body by its signal; the body is awaited, and a success is not reported as one. A body that
 * outlives `timeoutMs` is told by its signal too, but awaited no longer: whatever it still does is ignored.
 *
 * @throws ToolTimeoutError, AbortError, and whatever the body throws
 */
export async function runBody(tool: Tool, args: JsonObject, call: ToolCallContext): Promise<unknown> {
  const { signal } = call;
  let value: unknown;
  try {
    value = await (tool.timeoutMs === undefined ? tool.execute(args, call) : runFor(tool.timeoutMs, tool, args, call));
  } catch (thrown) {
    throw signal.aborted && isAbort(thrown, signal) ? AbortError.whileRunning(thrown) : thrown;
  }
  if (signal.aborted) throw AbortError.whileRunning();
  return value;
}

async function runFor(timeoutMs: number, tool: Tool, args: JsonObject, call: ToolCallContext): Promise<unknown> {
  const controller = new AbortController();
  const expired = new Deferred<never>();
  const forward = (): void => controller.abort(call.signal.reason);
  call.signal.addEventListener('abort', forward, { once: true });
  const timer = setTimeout(
    () => {
      const timeout = new ToolTimeoutError(timeoutMs);
      expired.reject(timeout);
      controller.abort(timeout);
    },
    Math.min(timeoutMs, MAX_TIMER_MS),
  );
  try {
    // The race also observes the rejection of a body that settles too late.
    return await Promise.race([tool.execute(args, { ...call, signal: controller.signal }), expired.promise]);
  } finally {
    clearTimeout(timer);
    call.signal.removeEventListener('abort', forward);
  }
}

/** Whether a throw only says that the signal was heard; any other one is more specific and wins. */
function isAbort(thrown: unknown, signal: AbortSignal): boolean {
  return thrown === signal.reason || (thrown instanceof Error && thrown.name === 'AbortError');
}
