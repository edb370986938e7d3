import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { init, parse } from 'es-module-lexer';
import { isEvent } from '../../src/protocol/index.js';
import { builtBin, Lab } from '../support/lab.js';
import { eventually } from '../support/processes.js';

/** A command line whose second module prints in every way JavaScript has, while it is imported and ever after. */
const noisyBin = new URL('../support/noisy-dsh.js', import.meta.url).pathname;

describe('the stdout guard', () => {
  let lab: Lab;
  afterEach(() => lab.close());

  it('keeps every byte on stdout a frame through a whole run with noisy modules (A6, A7)', async () => {
    lab = await Lab.open(
      { toolCalls: [{ name: 'bash', arguments: { command: 'echo from the shell; echo to stderr >&2' } }] },
      { text: 'a long answer', chunkSize: 1 },
    );
    const runtime = lab.raw({ bin: noisyBin });
    await runtime.request('initialize', { cwd: lab.cwd, provider: 'deepseek-official', model: 'm' });
    await runtime.prompt('s', 'go');
    await runtime.idle('s');
    await eventually(() => /NOISE later/.test(runtime.stderr));
    await runtime.request('shutdown');
    expect((await runtime.ended).code).to.equal(0);
    expect(runtime.junk).to.deep.equal([]);
    expect(runtime.events.filter((event) => isEvent(event, 'turn/end'))).to.have.length(1);
    for (const way of [
      'console.log',
      'process.stdout.write',
      'fs.writeSync',
      'named writeSync',
      'fs.write',
      'fs.writeFileSync',
      'fs.createWriteStream',
    ]) {
      expect(runtime.stderr).to.contain(`NOISE ${way} at import`);
    }
  });

  it('stands in the built command, before anything else that it imports', async () => {
    lab = await Lab.open({ text: 'ok' });
    // Loaded before the guard, prints once somebody has taken stdout's place.
    const noise = `setInterval(() => {
      if (process.stdout.fd === 1) return;
      console.log('NOISE');
      require('fs').writeSync(1, 'NOISE fd');
    }, 1).unref()`;
    const preload = join(lab.home, 'noise.cjs');
    await writeFile(preload, noise);
    const runtime = lab.raw({ env: { NODE_OPTIONS: `--require=${preload}` } });
    await runtime.request('initialize', { cwd: lab.cwd, provider: 'deepseek-official', model: 'm' });
    await runtime.prompt('s', 'go');
    await runtime.idle('s');
    await eventually(() => runtime.stderr.includes('NOISE fd'));
    expect(runtime.junk).to.deep.equal([]);

    await init;
    const loadedFirst = (file: string): string[] =>
      parse(readFileSync(file, 'utf8'))[0].flatMap((found) => (found.type === 'static' ? [found.specifier] : []));
    const [chunk = '', ...others] = loadedFirst(builtBin).filter((name) => !name.startsWith('node:'));
    expect(others).to.deep.equal([]);
    const deeper = chunk === '' ? [] : loadedFirst(join(dirname(builtBin), chunk));
    expect(deeper.filter((name) => !name.startsWith('node:'))).to.deep.equal([]);
  });

  it('survives a module that ends or destroys stdout', async () => {
    lab = await Lab.open({ text: 'still here' });
    const runtime = lab.raw({ bin: noisyBin, env: { NOISE_ENDS_STDOUT: '1' } });
    await runtime.request('initialize', { cwd: lab.cwd, provider: 'deepseek-official', model: 'm' });
    await runtime.prompt('s', 'go');
    await runtime.idle('s');
    expect(runtime.junk).to.deep.equal([]);
  });
});
