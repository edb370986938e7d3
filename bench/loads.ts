import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import type { RawRuntime } from '../test/support/raw-runtime.js';
import { cpuSeconds, type Figure, figure, peakMemory, repeat, timed } from './measure.js';
import { pidOf, type Rig } from './rig.js';

const CHUNKS = 20_000;
const PROMPT_BYTES = 20 * 1024 * 1024;
const LOG_BYTES = 100 * 1024 * 1024;

/** A long answer, and a long prompt. */
export async function floods(rig: Rig): Promise<Figure[]> {
  const runtime = await rig.initialized();
  const runs = await repeat(5, async () => {
    const before = cpuSeconds(pidOf(runtime));
    const took = await timed(() => rig.turn(runtime, `stream ${CHUNKS}`));
    return { rate: (CHUNKS / took) * 1_000, cpu: cpuSeconds(pidOf(runtime)) - before };
  });
  await rig.stop(runtime);
  const fresh = await rig.initialized();
  const big = await timed(() => rig.turn(fresh, 'x'.repeat(PROMPT_BYTES)));
  const memory = peakMemory(pidOf(fresh));
  await rig.stop(fresh);
  const rates = runs.map(({ rate }) => rate);
  const cpu = runs.map((run) => run.cpu);
  return [
    figure(`answer of ${CHUNKS.toLocaleString('en')} chunks, log on disk`, rates, 'events/s', '≥ 170,000 / 200,000'),
    figure('… the runtime’s processor time', cpu, 's CPU', '≤ 0.12 / 0.10'),
    figure('prompt of 20 MB, to idle', [big], 'ms', '≤ 500'),
    figure('peak memory with it', [memory], 'MB', '≤ 200'),
  ];
}

/** Many sessions at once, of 20 chunks each. */
export async function crowds(rig: Rig): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [count, time, memory] of [
    [50, '', ''],
    [200, '', ''],
    [1_000, '≤ 1,000', '≤ 200 / 220'],
  ] as const) {
    const runtime = await rig.initialized();
    const ids = Array.from({ length: count }, (_, index) => `crowd-${count}-${index}`);
    const took = await timed(() => allTurns(runtime, ids, 'stream 20'));
    const name = `${count.toLocaleString('en')} sessions at once`;
    figures.push(figure(name, [took], 'ms', time));
    figures.push(figure('… peak memory', [peakMemory(pidOf(runtime))], 'MB', memory));
    figures.push(figure('… shutdown', [await timed(() => rig.stop(runtime))], 'ms'));
  }
  return figures;
}

/** A turn in each session, all prompts in one write. Looks at every frame once. */
async function allTurns(runtime: RawRuntime, ids: readonly string[], text: string): Promise<void> {
  runtime.frames.length = 0;
  const contentBlocks = [{ type: 'text', text }];
  runtime.write(
    ...ids.map((sessionId) => ({
      jsonrpc: '2.0',
      id: sessionId,
      method: 'session/prompt',
      params: { sessionId, contentBlocks },
    })),
  );
  let seen = 0;
  for (let running = ids.length; running > 0; await runtime.change()) {
    for (; seen < runtime.frames.length; seen += 1) {
      const { method, params, error } = runtime.frames[seen] ?? {};
      if (error !== undefined) throw new Error(error.message);
      if (method === 'session.status' && params.status === 'idle') running -= 1;
    }
    if (running === 0) return;
  }
}

/** A session whose log has grown to 100 MB, continued by a new runtime. */
export async function resume(rig: Rig): Promise<Figure[]> {
  await writeLog(rig.home, 'old');
  const runtime = await rig.initialized();
  const receipt = await timed(() => runtime.prompt('old', 'text'));
  await runtime.idle('old');
  const memory = peakMemory(pidOf(runtime));
  await rig.stop(runtime);
  return [figure('resume of a 100 MB log, to the receipt', [receipt], 'ms'), figure('… peak memory', [memory], 'MB')];
}

/** Turns of 2,000 chunks, as they stand in a live log. */
async function writeLog(home: string, id: string): Promise<void> {
  const directory = join(home, 'sessions', `--${home.replaceAll('/', '-').slice(1)}--`, id);
  await mkdir(directory, { recursive: true });
  const file = createWriteStream(join(directory, 'session.jsonl'));
  let seq = 0;
  let bytes = 0;
  let text = '';
  const add = (type: string, data: object, more: object = {}): number => {
    text += `${JSON.stringify({ type, seq, time: 1_700_000_000_000 + seq, data, ...more })}\n`;
    return seq++;
  };
  const header = { type: 'session', version: 0, id, createdAt: 1_700_000_000_000, cwd: home, delegationDepth: 0 };
  file.write(`${JSON.stringify(header)}\n`);
  for (let turn = 1; bytes < LOG_BYTES; turn += 1) {
    const at = { turn, step: 1 };
    text = '';
    add('turn/start', { turn });
    add('step/start', at);
    const source = { kind: 'user' };
    const content = [{ type: 'text', text: 'go on' }];
    add('user/message', { id: `u-${turn}`, role: 'user', content, source }, { surfaceOp: 'append' });
    const chunks = [add('assistant/chunk', { ...at, chunk: { type: 'block-start', index: 0, blockType: 'text' } })];
    for (let index = 0; index < 2_000; index += 1) {
      chunks.push(add('assistant/chunk', { ...at, chunk: { type: 'text-delta', index: 0, text: 'word ' } }));
    }
    const block = { type: 'text', text: 'word '.repeat(2_000) };
    chunks.push(add('assistant/chunk', { ...at, chunk: { type: 'block-end', index: 0, block } }));
    chunks.push(add('assistant/chunk', { ...at, chunk: { type: 'finish', reason: { kind: 'stop' } } }));
    const model = { kind: 'model', provider: 'deepseek-official', model: 'deepseek-v4-flash' };
    const message = { id: `a-${turn}`, role: 'assistant', content: [block], source: model };
    add('assistant/message', { ...at, message }, { surfaceOp: 'append', sourceEventSeqs: chunks });
    add('step/end', at);
    add('turn/end', { turn, reason: { kind: 'completed' } });
    bytes += text.length;
    if (!file.write(text)) await once(file, 'drain');
  }
  await finished(file.end());
}
