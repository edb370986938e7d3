import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageInfo } from '../src/base/index.js';
import { useHome } from './support/home.js';
import { builtBin } from './support/lab.js';

const { root } = packageInfo();

interface Snippet {
  readonly language: string;
  readonly file: string | undefined;
  readonly text: string;
}

async function snippets(): Promise<readonly Snippet[]> {
  const page = await readFile(join(root, 'docs', 'plugins.md'), 'utf8');
  return [...page.matchAll(/^```(\w+)(?: file=(\S+))?\n([\s\S]*?)^```$/gm)].map(
    ([, language = '', file, text = '']): Snippet => ({ language, file, text }),
  );
}

describe('docs/plugins.md', () => {
  const dir = useHome();

  /** `dsh` on the path, and what a package of one's own has installed. */
  function setUp(): NodeJS.ProcessEnv {
    const dsh = dir.write(
      'bin/dsh',
      `#!/bin/sh\nexec ${JSON.stringify(process.execPath)} ${JSON.stringify(builtBin)} "$@"\n`,
    );
    chmodSync(dsh, 0o755);
    const modules = join(dir.path, 'work', 'weather', 'node_modules');
    mkdirSync(modules, { recursive: true });
    for (const name of readdirSync(join(root, 'node_modules')))
      symlinkSync(join(root, 'node_modules', name), join(modules, name));
    symlinkSync(root, join(modules, 'dsh-inversify'));
    return { ...process.env, PATH: `${join(dir.path, 'bin')}:${process.env.PATH}`, DSH_HOME: join(dir.path, 'home') };
  }

  function shell(script: string, env: NodeJS.ProcessEnv): Promise<{ readonly code: number; readonly output: string }> {
    return new Promise((resolve) => {
      const options = { cwd: join(dir.path, 'work'), env };
      execFile('bash', ['-ec', `exec 2>&1\n${script}`], options, (error, output) => {
        resolve({ code: error === null ? 0 : Number(error.code), output });
      });
    });
  }

  it('says what happens when it is followed', async function () {
    this.timeout(120_000);
    const env = setUp();
    let output = '';
    let checked = 0;
    for (const { language, file, text } of await snippets()) {
      if (file !== undefined) {
        dir.write(join('work', file), text);
      } else if (language === 'sh') {
        const ran = await shell(text, env);
        expect(ran.code, `${text}\n${ran.output}`).to.equal(0);
        output = ran.output;
      } else {
        expect(language).to.equal('text');
        for (const line of text.trimEnd().split('\n')) expect(output).to.contain(line.trimEnd());
        checked += 1;
      }
    }
    expect(checked).to.be.greaterThan(5);
  });
});
