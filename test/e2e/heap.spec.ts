import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { useHome } from '../support/home.js';

const CHILD = fileURLToPath(new URL('../support/heap-child.js', import.meta.url));
const SESSIONS = 1_000;
const BATCHES = 5;
/** A session that was kept would be 50 KB and more of its scope alone; this is what 200 may leave in caches and code. */
const FLAT_BYTES = 200 * 5_000;

describe('the heap of a runtime', () => {
  const dir = useHome();

  it('is flat over a thousand sessions with a part of a plugin each, which all end', async function () {
    this.timeout(120_000);
    dir.write('script.yml', '- text: done\n');
    dir.write(
      'part.mjs',
      `import { ContainerModule } from 'inversify';
       import { CurrentScope, definePlugin, SessionParticipant } from 'dsh-inversify/plugin';
       const counts = globalThis.sessionParts;
       export default definePlugin({ name: 'part', session: new ContainerModule(({ bind }) => {
         bind(SessionParticipant).toResolvedValue((scope) => {
           counts.open += 1;
           counts.opened += 1;
           const kept = new Array(1_000).fill(counts.opened);
           scope.defer('part', () => { counts.open -= 1; kept.length = 0; });
           return { name: 'part', committed: () => kept.length };
         }, [CurrentScope]);
       }) });`,
    );
    const args = ['--expose-gc', CHILD, dir.path, String(SESSIONS), String(BATCHES)];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const { heaps, open, opened } = JSON.parse(stdout) as { heaps: number[]; open: number; opened: number };
    expect({ open, opened }).to.deep.equal({ open: 0, opened: SESSIONS });
    const [, second = 0] = heaps;
    const last = heaps.at(-1) ?? Number.POSITIVE_INFINITY;
    expect(last - second, `bytes after each batch: ${heaps.join(', ')}`).to.be.lessThan(FLAT_BYTES);
  });
});
