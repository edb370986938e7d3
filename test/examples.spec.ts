import { cpSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageInfo } from '../src/base/index.js';
import { useHome } from './support/home.js';
import { dsh } from './support/run-dsh.js';

const { root } = packageInfo();

/** The command lines of an example's README, without the `npm run -s dsh --` before them, and its environment. */
async function commandsOf(example: string): Promise<readonly { readonly args: string[]; readonly home?: string }[]> {
  const readme = await readFile(join(root, 'examples', example, 'README.md'), 'utf8');
  const [, block = ''] = /```sh\n([\s\S]*?)```/.exec(readme) ?? [];
  const lines = block.replaceAll('\\\n', ' ').trim().split('\n');
  return lines.map((line) => {
    const [, home, rest = ''] = /^(?:DSH_HOME=(\S+) )?npm run -s dsh -- (.*)$/.exec(line) ?? [];
    const args = [...rest.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');
    return { args, ...(home !== undefined && { home }) };
  });
}

describe('examples', () => {
  const home = useHome();
  const at = process.cwd();
  before(() => process.chdir(root));
  after(() => process.chdir(at));

  const printed: readonly (readonly [example: string, ...outputs: string[]])[] = [
    ['plugin-tool', 'A lease says which runtime has a session.\n'],
    ['plugin-adapter', 'Polly wants a cracker\n'],
    ['plugin-policy', 'I was told that there is no network.\n'],
  ];
  for (const [example, ...outputs] of printed) {
    it(`${example} prints what its README says`, async () => {
      const commands = await commandsOf(example);
      expect(commands).to.have.lengthOf(outputs.length);
      for (const [index, { args }] of commands.entries()) {
        const ran = await dsh(args, { DSH_HOME: home.path });
        expect(ran).to.include({ code: 0, stdout: outputs[index] });
      }
    });
  }

  it('custom-profile is dumped and runs as its README says', async () => {
    cpSync(join(root, 'examples', 'custom-profile'), home.path, { recursive: true });
    const [dump, run] = await commandsOf('custom-profile');
    expect(dump?.home).to.equal('examples/custom-profile');
    const dumped = await dsh(dump?.args ?? [], { DSH_HOME: home.path });
    expect(dumped).to.include({ code: 0, stderr: '' });
    expect(dumped.stdout).to.contain('You review code').and.not.to.contain('str-replace-editor');
    const ran = await dsh(run?.args ?? [], { DSH_HOME: home.path });
    expect(ran.code).to.equal(0);
    expect(ran.stdout).to.contain('Review this');
  });
});
