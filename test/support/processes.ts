import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

/** A command that only this test run can have started, and that outlasts it. */
export function uniqueNap(): string {
  return `sleep ${10_000_000 + Math.floor(Math.random() * 80_000_000)}`;
}

/** Polls until `holds`; the test's own timeout is the bound. */
export async function eventually(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await setTimeout(10);
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
}

/** Pids of the processes whose command line contains `text`. */
export function processesWith(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const commandLine = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return pid !== process.pid && commandLine.includes(text) && isAlive(pid);
      } catch {
        return false;
      }
    });
}
