import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { errorCode } from '../../base/index.js';

/** Where the system tells which process is in which session: Linux. */
const HAS_PROC = existsSync('/proc/self/stat');
/** How long processes may take to end after SIGTERM, and again after SIGKILL, in milliseconds. */
const GRACE_MS = 150;
const POLL_MS = 2;

/**
 * Ends every process of the session (as in `setsid`) that `leader` leads: SIGTERM, after a short grace SIGKILL.
 *
 * A session may hold several process groups: `timeout` and job control make their own. Where the system does not tell
 * them, the leader's group only. Fulfils when they are gone, at once if there are none; never rejects.
 */
export async function endProcessSession(leader: number): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    const groups = new Set([leader, ...groupsOf(leader)]);
    for (const group of groups) kill(group, signal);
    if (await areGone(leader, groups)) return;
  }
}

/** Kills every process of the session at once, and waits for nothing. Never throws. */
export function killProcessSession(leader: number): void {
  kill(leader, 'SIGKILL');
  for (const group of groupsOf(leader)) kill(group, 'SIGKILL');
}

async function areGone(leader: number, groups: ReadonlySet<number>): Promise<boolean> {
  for (const deadline = performance.now() + GRACE_MS; performance.now() < deadline; await delay(POLL_MS)) {
    const isEmpty = [...groups].every((group) => !kill(group, 0));
    if (isEmpty || groupsOf(leader).size === 0) return true;
  }
  return false;
}

function groupsOf(leader: number): ReadonlySet<number> {
  if (HAS_PROC) return sessionTable().get(leader) ?? new Set();
  return new Set(kill(leader, 0) ? [leader] : []);
}

/** Whether the group has members, as far as the signal tells: dead ones that wait for their parent count. */
function kill(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal);
  } catch (thrown) {
    return errorCode(thrown) === 'EPERM';
  }
}

let table: ReadonlyMap<number, ReadonlySet<number>> | undefined;

/** The process groups of every session with living processes; shared by all who ask in one turn of the event loop. */
function sessionTable(): ReadonlyMap<number, ReadonlySet<number>> {
  if (table === undefined) {
    table = readSessionTable();
    setImmediate(() => {
      table = undefined;
    });
  }
  return table;
}

function readSessionTable(): ReadonlyMap<number, ReadonlySet<number>> {
  const sessions = new Map<number, Set<number>>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d/.test(entry)) continue;
    const [state, , group, session] = statOf(entry);
    if (state === undefined || state === 'Z' || state === 'X') continue;
    const groups = sessions.get(Number(session)) ?? new Set();
    sessions.set(Number(session), groups.add(Number(group)));
  }
  return sessions;
}

/** State, parent, group and session; nothing for a process that has ended meanwhile. See proc(5): a name may hold anything. */
function statOf(pid: string): readonly string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ', 4);
  } catch {
    return [];
  }
}
