import { createHook } from 'node:async_hooks';

/**
 * What `work` waited for: the delays, in milliseconds, of the timers that were started meanwhile and ran out. Timers of
 * `node:timers/promises` count as well; one that was cleared kept nobody waiting.
 */
export async function waitsOf(work: () => Promise<unknown>): Promise<readonly number[]> {
  const started = new Map<number, number>();
  const ranOut: number[] = [];
  const hook = createHook({
    init: (id, type, _trigger, resource) => {
      if (type === 'Timeout') started.set(id, (resource as { readonly _idleTimeout: number })._idleTimeout);
    },
    before: (id) => {
      const delay = started.get(id);
      if (delay !== undefined) ranOut.push(delay);
    },
  }).enable();
  try {
    await work();
  } finally {
    hook.disable();
  }
  return ranOut;
}
