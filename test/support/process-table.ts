import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Ids of the living processes whose environment holds `text`; the dead that wait for their parent do not count. */
export function processesWith(text: string): readonly number[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((pid) => pid !== process.pid && environOf(pid).includes(text) && isAlive(pid));
}

export function isAlive(pid: number): boolean {
  return !['Z', 'X', undefined].includes(stateOf(pid));
}

/** What this process has open, by what it is; other users of the event loop keep theirs meanwhile. */
export function openFiles(): readonly string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      return [];
    }
  });
}

/** Fulfils when `holds`; the test's own timeout ends it otherwise. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 2));
}

function environOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    return '';
  }
}

function stateOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.at(stat.lastIndexOf(')') + 2);
  } catch {
    return undefined;
  }
}
