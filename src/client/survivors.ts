import { setTimeout as delay } from 'node:timers/promises';
import { isGroupAlive } from '../base/index.js';

/** A killed process ends within milliseconds. */
const endWaitMs = 1000;
const pollMs = 2;

/** Kills what is left of the process group that `leader` led, and settles when it is gone. POSIX only. */
export async function killGroup(leader: number): Promise<void> {
  if (process.platform === 'win32') return;
  for (const deadline = performance.now() + endWaitMs; kill(-leader) && performance.now() < deadline; ) {
    // The dead that nobody has reaped yet still take signals.
    if (process.platform === 'linux' && !(await isGroupAlive(leader))) return;
    await delay(pollMs);
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
