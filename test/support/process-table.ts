import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Ids of the living processes whose environment holds `text`; the dead that wait for their parent do not count. */
export function processesWith(text: string): readonly number[] {
  return processesWhere('environ', (content) => content.includes(text));
}

/** Ids of the living processes whose command line, its words joined by spaces, holds `text`. */
export function commandsWith(text: string): readonly number[] {
  return processesWhere('cmdline', (content) => content.replaceAll('\0', ' ').includes(text));
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

function processesWhere(file: 'environ' | 'cmdline', holds: (content: string) => boolean): readonly number[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((pid) => pid !== process.pid && holds(contentOf(pid, file)) && isAlive(pid));
}

function contentOf(pid: number, file: 'environ' | 'cmdline'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
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
