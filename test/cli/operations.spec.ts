import { execFile } from 'node:child_process';
import { appendFile, chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { packageInfo } from '../../src/base/index.js';
import { builtBin } from '../support/lab.js';
import { storeLog } from '../support/stored-log.js';
import { useTempDir } from '../support/temp-dir.js';

const run = promisify(execFile);
const docs = (name: string): Promise<string> => readFile(join(packageInfo().root, 'docs', name), 'utf8');

/** The code blocks of one language. */
function blocks(text: string, language: string): string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(([, code = '']) => code);
}

describe('docs/operations.md', () => {
  const dir = useTempDir();

  it('shows commands that work, in this order', async () => {
    const home = join(dir.path, 'home');
    const root = join(home, 'sessions');
    const cwd = join(dir.path, 'cwd');
    await mkdir(cwd);
    await storeLog(root, 'nightly-42');
    await appendFile(await storeLog(root, 'torn-6'), '{"type":');
    await storeLog(root, 'broken-7', (lines) => lines.filter((_, at) => at !== 20));
    const [prices = ''] = blocks((await docs('models.md')).split('## Prices')[1] ?? '', 'yaml');
    await writeFile(join(cwd, 'prices.yml'), prices);
    const bin = join(dir.path, 'dsh');
    await writeFile(bin, `#!/bin/sh\nexec '${process.execPath}' '${builtBin}' "$@"\n`);
    await chmod(bin, 0o755);

    const commands = blocks(await docs('operations.md'), 'sh').flatMap((block) => block.trimEnd().split('\n'));
    expect(commands.length).to.be.greaterThan(10);
    const env = { PATH: `${dir.path}${delimiter}${process.env.PATH}`, DSH_HOME: home };
    const printed = new Map<string, string>();
    for (const command of commands) {
      const { stdout, stderr } = await run('/bin/sh', ['-ec', command], { cwd, env });
      expect(stderr, command).to.equal('');
      printed.set(command, stdout);
    }
    const output = (part: string): string | undefined => [...printed].find(([command]) => command.includes(part))?.[1];
    expect(output('--prices')).to.match(/^cost +0\.000\d+ USD$/m);
    expect(output('broken-7')).to.contain('kept the original as');
    expect(output('verify')).not.to.match(/ (torn|damaged), /);
    expect(output('fork')).to.equal('second-try\n');
    expect(output('--dry-run')).to.match(/^would delete \d, /m);
  });

  it('knows every command', async () => {
    const text = await docs('operations.md');
    for (const name of ['list', 'show', 'verify', 'repair', 'compact', 'export', 'fork', 'delete', 'gc']) {
      expect(text).to.contain(`dsh sessions ${name}`);
    }
  });
});
