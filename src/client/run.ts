import type { HarnessNotification, PromptBlock } from '../protocol/index.js';
import { withBounds } from './bounds.js';
import { RequestTimeoutError } from './errors.js';
import type { HarnessClient } from './harness-client.js';
import { abortSignal, type ChecksOf, callback, membersOf, milliseconds, must } from './option-checks.js';
import { timerMs } from './options.js';
import { RunCollector } from './run-collector.js';
import type { RunResult } from './run-result.js';

/** What a prompt is made of: a text, or content blocks that are sent as they are. */
export type RunInput = string | readonly PromptBlock[];

/** Options of one run. */
export interface RunOptions {
  /**
   * Hears each notification of the run in wire order, before it enters the result; a promise is awaited before the next
   * one. When it throws or rejects, the run rejects with that.
   */
  readonly onNotification?: (notification: HarnessNotification) => unknown;
  /** Ends the run at once with the signal's reason. The runtime and the turn are left alone. */
  readonly signal?: AbortSignal;
  /** Milliseconds until the run is given up with a `RequestTimeoutError`. The runtime and the turn are left alone. */
  readonly timeoutMs?: number;
}

const runOptions: ChecksOf<RunOptions> = { onNotification: callback, signal: abortSignal, timeoutMs: milliseconds };
const checkOptions = membersOf(runOptions);
const checkInput = must(
  'a string or an array of content blocks',
  (input) => typeof input === 'string' || Array.isArray(input),
);

/**
 * Sends a prompt and collects what it leads to (core §6.3).
 *
 * @param start gives the initialized client; its time counts
 * @throws TypeError the input or an option is of the wrong kind
 */
export async function runPrompt(
  start: () => Promise<HarnessClient>,
  sessionId: string,
  input: RunInput,
  options: RunOptions,
): Promise<RunResult> {
  checkInput('input', input);
  checkOptions('options', options);
  const { signal, onNotification } = options;
  const timeoutMs = options.timeoutMs === undefined ? undefined : timerMs(options.timeoutMs);
  const timeout = (): Error => new RequestTimeoutError('run', timeoutMs ?? 0);
  const blocks = typeof input === 'string' ? [{ type: 'text', text: input } as const] : input;

  return withBounds({ signals: [signal], timeoutMs, timeout }, async (bound) => {
    const client = await start();
    bound.throwIfAborted();
    const subscription = client.subscribeSessionTree(sessionId);
    bound.addEventListener('abort', () => subscription.close());
    try {
      const run = new RunCollector(sessionId, await client.prompt(sessionId, blocks, bound));
      while (!run.done) {
        const notification = subscription.tryNext() ?? (await subscription.next());
        if (!run.wants(notification)) continue;
        const heard = onNotification?.(notification);
        if (heard instanceof Promise) await heard;
        run.add(notification);
      }
      return run.result();
    } finally {
      subscription.close();
    }
  });
}
