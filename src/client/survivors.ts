import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { MARKER_VARIABLE } from './environment.js';

const maxPasses = 20;

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
    await delay(pass);
  }
}

/** Kills what is left of the process group that `leader` led. POSIX only. */
export function killGroup(leader: number): void {
  if (process.platform !== 'win32') kill(-leader);
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

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Gone already, or not ours to kill.
  }
}
