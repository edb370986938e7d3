import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeError } from '../base/index.js';
import { DeepSeekHarness } from '../client/index.js';
import { interruptible } from './interrupt.js';
import { findSessionLog } from './session-log.js';
import { TerminalView } from './terminal-view.js';

const PROMPT = 'Look around in the workspace and tell me what you find.';

/**
 * `npm start -- [PROMPT]`: the main job with nothing to set up, in a fresh home and workspace; on the built-in offline
 * model unless `DEEPSEEK_API_KEY` is set (decision 26). The home stays, so that its log can be read.
 */
async function start(prompt: string): Promise<0 | 1> {
  const dshHome = await mkdtemp(join(tmpdir(), 'dsh-start-home-'));
  const cwd = await mkdtemp(join(tmpdir(), 'dsh-start-workspace-'));
  await writeFile(join(cwd, 'hello.txt'), 'Hello from the workspace.\n');
  const hasKey = (process.env.DEEPSEEK_API_KEY ?? '').trim() !== '';
  const route = hasKey ? {} : { provider: 'offline', model: 'demo' };
  say(`model      ${hasKey ? 'DeepSeek' : 'the built-in offline model, because DEEPSEEK_API_KEY is not set'}`);
  say(`workspace  ${cwd}`);
  say(`home       ${dshHome} (kept: its log is yours to read)`);
  say(`prompt     ${prompt}\n`);

  const view = new TerminalView({ progress: process.stdout, answer: process.stdout });
  const harness = new DeepSeekHarness({ profile: 'sdk-minimal', dshHome, cwd, ...route });
  try {
    const result = await interruptible(process.stdout, (signal) =>
      harness.run(prompt, { signal, onNotification: (notification) => view.show(notification) }),
    );
    view.end();
    say(`\noutcome    ${result.outcome}${result.error === undefined ? '' : `: ${result.error.message}`}`);
    say(`log        ${(await findSessionLog(dshHome)) ?? 'none'}`);
    return result.outcome === 'completed' ? 0 : 1;
  } catch (thrown) {
    view.end();
    process.stderr.write(`${describeError(thrown)}\n`);
    return 1;
  } finally {
    await harness.close();
    await rm(cwd, { recursive: true, force: true });
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

process.exitCode = await start(process.argv.slice(2).join(' ') || PROMPT);
