import { setTimeout } from 'node:timers/promises';

/** A command that only this test run can have started, and that outlasts it. */
export function uniqueNap(): string {
  return `sleep ${10_000_000 + Math.floor(Math.random() * 80_000_000)}`;
}

/** Polls until `holds`; the test's own timeout is the bound. */
export async function eventually(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await setTimeout(10);
}
