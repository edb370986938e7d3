import type { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { CodedError, describeError, type LogFormat, type LogLevel } from '../base/index.js';
import { DeepSeekHarness, type DeepSeekHarnessOptions, type RunResult } from '../client/index.js';
import { Interrupted, interruptible } from './interrupt.js';
import { TerminalView } from './terminal-view.js';

/** What the runtime tells of itself on stderr. */
export interface Diagnostics {
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
}
/** What `dsh run` was told on its command line; what is left out takes the client's defaults. */
export interface RunPromptOptions
  extends Pick<DeepSeekHarnessOptions, 'profile' | 'patches' | 'trace' | 'provider' | 'model' | 'cwd'> {
  readonly diagnostics: Diagnostics;
}

/**
 * `dsh run`: one prompt through the client (decision 27). The answer goes to `stdout`, progress and the runtime's
 * diagnostics to stderr.
 *
 * @returns 0 when the turn completed, 130 when interrupted, else 1
 * @throws CodedError `EMPTY_PROMPT`
 */
export async function runPrompt(prompt: string, options: RunPromptOptions, stdout: Writable): Promise<number> {
  const input = prompt === '-' ? await text(process.stdin) : prompt;
  if (input.trim() === '') throw new CodedError('EMPTY_PROMPT', 'the prompt is empty');
  const { diagnostics, ...route } = options;
  const { logLevel, logFormat } = diagnostics;
  const isTerminal = 'isTTY' in stdout && stdout.isTTY === true;
  const view = new TerminalView({ progress: process.stderr, answer: isTerminal ? stdout : undefined });
  const harness = new DeepSeekHarness({
    ...route,
    env: { ...process.env, DSH_LOG_LEVEL: logLevel, DSH_LOG_FORMAT: logFormat },
    onStderr: (line) => process.stderr.write(`${line}\n`),
  });
  try {
    const result = await interruptible(stdout, (signal) =>
      harness.run(input, { signal, onNotification: (notification) => view.show(notification) }),
    );
    view.end();
    if (!isTerminal && result.finalResponse !== '') stdout.write(`${result.finalResponse}\n`);
    return report(result);
  } catch (thrown) {
    view.end();
    process.stderr.write(`dsh: ${describeError(thrown)}\n`);
    return thrown instanceof Interrupted ? 130 : 1;
  } finally {
    await harness.close();
  }
}

function report({ outcome, error }: RunResult): 0 | 1 {
  if (outcome === 'completed') return 0;
  const why = error === undefined ? '' : `: ${error.message} (${error.code})`;
  process.stderr.write(`dsh: the turn ended as ${outcome}${why}\n`);
  return 1;
}
