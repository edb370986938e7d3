import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type Figure, figure, peakMemory, repeat, timed } from './measure.js';
import { pidOf, type Rig } from './rig.js';

const STARTS = 15;

/** From nothing to the answer of `initialize`, to the end of the first turn, and the memory on the way. */
export async function starts(rig: Rig): Promise<Figure[]> {
  const empty = await repeat(STARTS, () =>
    timed(() => once(spawn(rig.node, ['-e', '0'], { env: { PATH: process.env.PATH ?? '' } }), 'close')),
  );
  const runs = await repeat(STARTS, async () => {
    const from = process.hrtime.bigint();
    const since = (): number => Number(process.hrtime.bigint() - from) / 1e6;
    const runtime = await rig.initialized();
    const initialized = since();
    const memory = peakMemory(pidOf(runtime));
    await rig.turn(runtime, 'text');
    const first = since();
    for (let index = 0; index < 20; index += 1) await rig.turn(runtime, 'text');
    const later = peakMemory(pidOf(runtime));
    await rig.stop(runtime);
    return { initialized, first, memory, later };
  });
  const of = (key: keyof (typeof runs)[number]): number[] => runs.map((run) => run[key]);
  return [
    figure('an empty Node process', empty, 'ms'),
    figure('start to `initialize` answered', of('initialized'), 'ms', '≤ 85'),
    figure('start and first text turn together', of('first'), 'ms', '≤ 110'),
    figure('peak memory at `initialize`', of('memory'), 'MB', '≤ 52 / 62'),
    figure('peak memory after 20 turns', of('later'), 'MB', '≤ 62 / 72'),
  ];
}
