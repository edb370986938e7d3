import type { Writable } from 'node:stream';

/** Somebody wants the work to end: a signal came, or nobody reads what it prints. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/**
 * Runs `work` with a signal that SIGINT, SIGTERM, SIGHUP and a broken `output` abort, instead of ending the process
 * under it. From then on nothing that is written to `output` can fail.
 */
export async function interruptible<T>(output: Writable, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const onSignal = (name: string): void => controller.abort(new Interrupted(`interrupted by ${name}`));
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, onSignal);
  output.on('error', () => controller.abort(new Interrupted('nobody reads the output any more')));
  try {
    return await work(controller.signal);
  } finally {
    for (const signal of signals) process.removeListener(signal, onSignal);
  }
}
