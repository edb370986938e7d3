import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { MARKER_VARIABLE } from './environment.js';

const maxPasses = 20;
/** A killed process ends within milliseconds; one that waits for its parent to reap it counts as ended. */
const endWaitMs = 1000;
const pollMs = 2;

/**
 * Kills every process that carries `marker` in its environment, and settles when none is left. Linux only; elsewhere
 * it does nothing. Passes are repeated until one finds nothing, because a process may fork while it is looked for.
 */
export async function killMarked(marker: string): Promise<void> {
  if (process.platform !== 'linux') return;
  for (let pass = 0; pass < maxPasses; pass++) {
    const found = await markedProcesses(marker);
    if (found.length === 0) return;
    for (const pid of found) kill(pid);
    await until(async () => (await Promise.all(found.map(hasEnded))).every(Boolean));
  }
}

/** Kills what is left of the process group that `leader` led, and settles when it is gone. POSIX only. */
export async function killGroup(leader: number): Promise<void> {
  if (process.platform === 'win32' || !kill(-leader)) return;
  await until(() => !kill(-leader));
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + endWaitMs; performance.now() < deadline; await delay(pollMs)) {
    if (await holds()) return;
  }
}

async function markedProcesses(marker: string): Promise<number[]> {
  const entry = `${MARKER_VARIABLE}=${marker}`;
  const names = (await readdir('/proc')).filter((name) => /^[0-9]+$/.test(name));
  const found = await Promise.all(
    names.map(async (name) => {
      try {
        return (await readFile(`/proc/${name}/environ`)).includes(entry) ? [Number(name)] : [];
      } catch {
        return []; // gone meanwhile, or another user's
      }
    }),
  );
  return found.flat().filter((pid) => pid !== process.pid);
}

async function hasEnded(pid: number): Promise<boolean> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1');
    return /^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    return true;
  }
}

/** False when there is nobody, or nobody of ours. */
function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}
