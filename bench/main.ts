import { execFile } from 'node:child_process';
import { cpus } from 'node:os';
import { promisify } from 'node:util';
import { crowds, floods, resume } from './loads.js';
import { type Figure, figure, report } from './measure.js';
import { Rig } from './rig.js';
import { starts } from './starts.js';
import { longSession, turns } from './turns.js';

const run = promisify(execFile);

/** What this machine is worth: the targets were set where this took 0.5 µs. */
async function calibrate({ node }: Rig): Promise<Figure[]> {
  const params = {
    sessionId: 's',
    event: {
      type: 'assistant/chunk',
      seq: 1,
      time: 2,
      data: { turn: 1, step: 1, chunk: { type: 'text-delta', index: 1, text: ' hello' } },
    },
  };
  const frame = JSON.stringify({ jsonrpc: '2.0', method: 'session.event', params });
  const script = `
    const runs = Array.from({ length: 20 }, () => {
      const from = process.hrtime.bigint();
      for (let index = 0; index < 10000; index += 1) JSON.parse(process.argv[1]);
      return Number(process.hrtime.bigint() - from) / 1e7;
    });
    console.log(JSON.stringify(runs.slice(10)));`;
  const { stdout } = await run(node, ['-e', script, frame]);
  return [figure('`JSON.parse` of one frame of 200 bytes', JSON.parse(stdout), 'µs', '0.5 where they were set')];
}

/** This Node.js and, where its package can be had, Node 24. */
async function versions(): Promise<string[]> {
  const nodes = [process.execPath];
  try {
    const fetched = ['-y', '-p', `node-${process.platform}-${process.arch}@24`, '-c', 'command -v node'];
    nodes.push((await run('npx', fetched)).stdout.trim());
  } catch (thrown) {
    process.stderr.write(`Node 24 is left out: ${thrown instanceof Error ? thrown.message : thrown}\n`);
  }
  return nodes;
}

/** `npm run bench`: whole-process figures of `sdk-minimal` on this machine, as a table. */
const columns = new Map<string, Figure[]>();
for (const node of await versions()) {
  const rig = await Rig.open(node);
  try {
    const figures: Figure[] = [];
    for (const measure of [calibrate, starts, turns, floods, crowds, longSession, resume]) {
      figures.push(...(await measure(rig)));
    }
    columns.set(`Node ${(await run(node, ['--version'])).stdout.trim()}`, figures);
  } finally {
    await rig.close();
  }
}
process.stdout.write(`${cpus().length} × ${cpus()[0]?.model}; median (best)\n\n${report(columns)}\n`);
