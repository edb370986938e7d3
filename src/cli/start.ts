import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DeepSeekHarness } from '../client/index.js';
import { findSessionLog } from './session-log.js';
import { TerminalView } from './terminal-view.js';

const PROMPT = 'Look around in the workspace and tell me what you find.';

/**
 * `npm start -- [PROMPT]`: the main job with nothing to set up. A fresh home and workspace; the built-in offline model
 * unless `DEEPSEEK_API_KEY` is set (decision 26).
 */
async function start(prompt: string): Promise<number> {
  const base = await mkdtemp(join(tmpdir(), 'dsh-start-'));
  const cwd = await mkdtemp(join(tmpdir(), 'dsh-workspace-'));
  await writeFile(join(cwd, 'hello.txt'), 'Hello from the workspace.\n');
  const hasKey = (process.env.DEEPSEEK_API_KEY ?? '').trim() !== '';
  const route = hasKey ? {} : { provider: 'offline', model: 'demo' };
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  say(hasKey ? 'model      DeepSeek' : 'model      offline demo (no DEEPSEEK_API_KEY is set)');
  say(`workspace  ${cwd}`);
  say(`prompt     ${prompt}\n`);

  const view = new TerminalView({ progress: process.stdout, answer: process.stdout });
  const harness = new DeepSeekHarness({ profile: 'sdk-minimal', dshHome: base, cwd, ...route });
  try {
    const result = await harness.run(prompt, { onNotification: (event) => view.show(event) });
    view.end();
    say(`\noutcome    ${result.outcome}${result.error === undefined ? '' : `: ${result.error.message}`}`);
    say(`log        ${await findSessionLog(base)}`);
    return result.outcome === 'completed' ? 0 : 1;
  } finally {
    await harness.close();
    await rm(cwd, { recursive: true, force: true });
  }
}

process.exitCode = await start(process.argv.slice(2).join(' ') || PROMPT);
