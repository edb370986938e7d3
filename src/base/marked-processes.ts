import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

/** Carried by a runtime and everything it starts, so that whoever started it can find what outlives it. */
export const RUNTIME_MARKER = 'DSH_RUNTIME_MARKER';

const MAX_PASSES = 20;
/** A killed process ends within milliseconds; one that waits for its parent to reap it counts as ended. */
const END_WAIT_MS = 1_000;
const POLL_MS = 2;

/**
 * Kills every process but this one whose environment holds `entry`, as in `NAME=value`, and settles when none is left.
 * Linux only; elsewhere it does nothing. A process that cleared its environment is not found.
 *
 * Passes are repeated until one finds nothing, because a process may fork while it is looked for.
 */
export async function killMarked(entry: string): Promise<void> {
  if (process.platform !== 'linux') return;
  for (let pass = 0; pass < MAX_PASSES; pass += 1) {
    const found = await markedProcesses(entry);
    if (found.length === 0) return;
    for (const pid of found) kill(pid);
    const deadline = performance.now() + END_WAIT_MS;
    while (performance.now() < deadline && !(await Promise.all(found.map(hasEnded))).every(Boolean))
      await delay(POLL_MS);
  }
}

/** Whether a process of this group still runs; one that waits for its parent to reap it does not. Linux only. */
export async function isGroupAlive(group: number): Promise<boolean> {
  const states = await Promise.all((await processes()).map(stateOf));
  return states.some((state) => state?.group === group && !state.ended);
}

async function markedProcesses(entry: string): Promise<number[]> {
  const found = await Promise.all(
    (await processes()).map(async (pid) => {
      try {
        return (await readFile(`/proc/${pid}/environ`)).includes(entry) ? [pid] : [];
      } catch {
        return []; // gone meanwhile, or another user's
      }
    }),
  );
  return found.flat().filter((pid) => pid !== process.pid);
}

async function processes(): Promise<number[]> {
  const entries = await readdir('/proc').catch(() => []); // not mounted: nothing can be found
  return entries.filter((name) => /^[0-9]+$/.test(name)).map(Number);
}

async function hasEnded(pid: number): Promise<boolean> {
  return (await stateOf(pid))?.ended ?? true;
}

/** Undefined when there is no such process. */
async function stateOf(pid: number): Promise<{ readonly group: number; readonly ended: boolean } | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1');
    const [state = '', , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { group: Number(group), ended: /^[ZX]/.test(state) };
  } catch {
    return undefined;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Gone already, or not ours to kill.
  }
}
