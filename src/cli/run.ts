import type { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describeError } from '../base/index.js';
import { DeepSeekHarness, type DeepSeekHarnessOptions, type RunResult } from '../client/index.js';
import { TerminalView } from './terminal-view.js';

/**
 * `dsh run`: one prompt through the client (decision 27). The answer goes to `stdout`, progress to stderr.
 *
 * @returns 0 when the turn completed, else 1
 */
export async function runPrompt(prompt: string, options: DeepSeekHarnessOptions, stdout: Writable): Promise<0 | 1> {
  const input = prompt === '-' ? await text(process.stdin) : prompt;
  const isTerminal = 'isTTY' in stdout && stdout.isTTY === true;
  const view = new TerminalView({ progress: process.stderr, answer: isTerminal ? stdout : undefined });
  const harness = new DeepSeekHarness(options);
  const interrupt = new AbortController();
  const onSignal = (): void => interrupt.abort(new Error('interrupted'));
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  try {
    const result = await harness.run(input, { signal: interrupt.signal, onNotification: (event) => view.show(event) });
    view.end();
    if (!isTerminal) stdout.write(`${result.finalResponse}\n`);
    return report(result);
  } catch (thrown) {
    view.end();
    process.stderr.write(`dsh: ${describeError(thrown)}\n`);
    return 1;
  } finally {
    process.removeListener('SIGINT', onSignal).removeListener('SIGTERM', onSignal);
    await harness.close();
  }
}

function report({ outcome, error }: RunResult): 0 | 1 {
  if (outcome === 'completed') return 0;
  process.stderr.write(
    `dsh: the turn ended as ${outcome}${error === undefined ? '' : `: ${error.message} (${error.code})`}\n`,
  );
  return 1;
}
