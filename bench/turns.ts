import { type Figure, figure, repeat, timed } from './measure.js';
import type { Rig } from './rig.js';

const TURNS = 200;
/** Turns before the shell's session is changed: the history that each request carries stays short. */
const SHELL_TURNS = 20;
const LONG_TURNS = 1_000;

/** Turns of a warm runtime, each beside a bare request to the same server. */
export async function turns(rig: Rig): Promise<Figure[]> {
  const runtime = await rig.initialized();
  const text: number[] = [];
  const bare: number[] = [];
  const shell: number[] = [];
  const firstShells = await repeat(5, (index) => timed(() => rig.turn(runtime, 'shell', `first-${index}`)), 0);
  for (let index = -SHELL_TURNS; index < TURNS; index += 1) {
    const shellSession = `shell-${Math.floor(index / SHELL_TURNS)}`;
    const isFirst = index % SHELL_TURNS === 0;
    const inBare = await timed(() => rig.bareRequest());
    const inText = await timed(() => rig.turn(runtime, 'text', `text-${index}`));
    const inShell = await timed(() => rig.turn(runtime, 'shell', shellSession));
    if (index < 0) continue;
    bare.push(inBare);
    text.push(inText);
    if (!isFirst) shell.push(inShell);
  }
  const over = text.map((value, index) => value - (bare[index] ?? 0));
  const shutdown = await timed(() => rig.stop(runtime));
  return [
    figure('a bare request to the same server', bare, 'ms'),
    figure('warm text turn, new session', text, 'ms', '≤ 1.2'),
    figure('… over the bare request', over, 'ms', '≤ 0.4'),
    figure('first shell turn of a session', firstShells, 'ms', '≤ 20'),
    figure('warm shell turn (two model calls)', shell, 'ms', '≤ 2.5'),
    figure('shutdown after the shell was used', [shutdown], 'ms', '≤ 200'),
  ];
}

/** One session of a thousand turns: what its length costs. */
export async function longSession(rig: Rig): Promise<Figure[]> {
  const runtime = await rig.initialized();
  const took: number[] = [];
  for (let turn = 0; turn < LONG_TURNS; turn += 1) took.push(await timed(() => rig.turn(runtime, 'text', 'long')));
  await rig.stop(runtime);
  return [
    figure('turn 100 of a session (90 to 110)', took.slice(90, 110), 'ms'),
    figure('turn 1,000 (980 to 1,000)', took.slice(-20), 'ms'),
  ];
}
