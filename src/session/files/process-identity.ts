import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { errorCode } from '../../base/index.js';

/** Which process of which machine; enough to tell it from a later one of the same number. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly host: string;
  /** Boot of the machine and pid namespace: where `pid` means something. Linux only. */
  readonly pidSpace?: string;
  /** Start of the process in ticks since boot. Linux only. */
  readonly pidStart?: string;
}

let own: ProcessIdentity | undefined;

/** This process. */
export function ownIdentity(): ProcessIdentity {
  own ??= { pid: process.pid, host: hostname(), ...linuxIdentity() };
  return own;
}

/** Whether this process can look for the other one, having the same pids before it. */
export function sharesPids(other: ProcessIdentity): boolean {
  const { host, pidSpace } = ownIdentity();
  return other.host === host && other.pidSpace === pidSpace;
}

/** Whether a process that {@link sharesPids} still runs; one that is dead and only not yet reaped does not. */
export function isRunning({ pid, pidStart }: ProcessIdentity): boolean {
  try {
    process.kill(pid, 0);
  } catch (thrown) {
    if (errorCode(thrown) !== 'EPERM') return false;
  }
  const found = statOf(pid);
  // Not to be seen is not to be gone.
  if (found === undefined) return true;
  return !'ZX'.includes(found.state) && (pidStart === undefined || pidStart === found.start);
}

function linuxIdentity(): Pick<ProcessIdentity, 'pidSpace' | 'pidStart'> {
  const start = statOf('self')?.start;
  if (start === undefined) return {};
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return { pidSpace: `${boot} ${readlinkSync('/proc/self/ns/pid')}`, pidStart: start };
  } catch {
    return { pidStart: start };
  }
}

/** `/proc/<pid>/stat`: the name, in brackets, may hold anything. */
function statOf(pid: number | 'self'): { readonly state: string; readonly start: string } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0] ?? '', start: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}
