import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';

const module = new URL('../../src/host/process-signals.js', import.meta.url).href;

/** A process that has made `ProcessSignals` and goes on with `code`; it says when it is there. */
async function start(code: string): Promise<ChildProcess> {
  const script = `import { ProcessSignals } from ${JSON.stringify(module)};
    const signals = new ProcessSignals(); setInterval(() => {}, 1000); ${code}; console.log('up');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  return child;
}

describe('ProcessSignals', () => {
  for (const [signal, code] of [
    ['SIGTERM', 0],
    ['SIGINT', 130],
    ['SIGHUP', 129],
  ] as const) {
    it(`exits ${code} on ${signal} while nothing handles it`, async () => {
      const child = await start('');
      child.kill(signal);
      expect(await once(child, 'exit')).to.deep.equal([code, null]);
    });
  }

  it('tells the first signal from the later ones, of whatever kind', async () => {
    const child = await start(
      'signals.handle((code, isFirst) => { if (!isFirst) process.exit(code + 1); process.kill(process.pid, "SIGINT"); })',
    );
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).to.deep.equal([131, null]);
  });
});
