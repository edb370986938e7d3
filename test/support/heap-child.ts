import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { createRuntime } from '../../src/host/index.js';
import { eventually } from './processes.js';

/**
 * Runs sessions by the batch, each with a part of a plugin, until they are evicted; prints the heap in use after each
 * batch, in bytes, a JSON list. To be run with --expose-gc. Arguments: a directory, sessions, batches.
 */
const [directory = '', sessions = '', batches = ''] = process.argv.slice(2);
const counts = { open: 0, opened: 0 };
Object.assign(globalThis, { sessionParts: counts });

const runtime = createRuntime({
  profile: 'sdk-minimal',
  env: { DSH_HOME: join(directory, 'home') },
  patches: [
    [{ insert: [{ id: 'part', module: join(directory, 'part.mjs') }] }, { id: 'agent', merge: { idleTimeoutMs: 1 } }],
  ],
});
const model = `script:${join(directory, 'script.yml')}`;
const harness = runtime.harness({ provider: 'offline', model, cwd: directory });
const heaps: number[] = [];
const perBatch = Number(sessions) / Number(batches);
for (let batch = 0; batch < Number(batches); batch += 1) {
  for (let at = 0; at < perBatch; at += 20) {
    const ids = Array.from({ length: 20 }, (_, index) => `s-${batch}-${at + index}`);
    await Promise.all(ids.map((sessionId) => harness.run('go', { sessionId })));
  }
  await eventually(() => counts.open === 0);
  // What a closing session still holds is let go by the next turns of the loop.
  await setTimeout(50);
  globalThis.gc?.();
  heaps.push(process.memoryUsage().heapUsed);
}
await harness.close();
process.stdout.write(JSON.stringify({ heaps, ...counts }));
