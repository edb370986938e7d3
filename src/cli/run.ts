import type { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describeError } from '../base/index.js';
import { DeepSeekHarness, type DeepSeekHarnessOptions, type RunResult } from '../client/index.js';
import { interruptible } from './interrupt.js';
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
  try {
    const result = await interruptible((signal) =>
      harness.run(input, { signal, onNotification: (notification) => view.show(notification) }),
    );
    view.end();
    if (!isTerminal && result.finalResponse !== '') stdout.write(`${result.finalResponse}\n`);
    return report(result);
  } catch (thrown) {
    view.end();
    process.stderr.write(`dsh: ${describeError(thrown)}\n`);
    return 1;
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
