import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { readEnvFiles } from '../../src/profile/index.js';
import { useHome } from '../support/home.js';
import { rejectionOf } from '../support/rejection-of.js';

describe('readEnvFiles', () => {
  const dirs = useHome();
  const project = (): string => join(dirs.path, 'project');
  const home = (): string => join(dirs.path, 'home');
  const read = (env: Record<string, string> = {}) => readEnvFiles(env, project(), home());

  it('takes the environment before the project before the home; an empty value is one', async () => {
    dirs.write('project/.env', '# a comment\nA=project\nB=project\nexport C="two words"\nE=project\n');
    dirs.write('home/.env', 'A=home\nB=home\nD=home\n');
    expect(await read({ A: 'env', E: '' })).to.deep.equal({
      values: { B: 'project', C: 'two words', D: 'home' },
      warnings: [],
    });
  });

  it('is nothing where there are no files, and looks nowhere else', async () => {
    dirs.write('.env', 'A=parent\n');
    mkdirSync(project());
    expect(await read()).to.deep.equal({ values: {}, warnings: [] });
  });

  it('reads the file once where the home is the project', async () => {
    dirs.write('home/.env', 'HTTP_PROXY=http://p\n');
    expect(await readEnvFiles({}, home(), home())).to.deep.include({ values: { HTTP_PROXY: 'http://p' } });
  });

  const refused: readonly (readonly [file: 'project' | 'home', name: string])[] = [
    ['project', 'DSH_HOME'],
    ['home', 'dsh_log_level'],
    ['project', 'XDG_CONFIG_HOME'],
    ['home', 'PATH'],
    ['project', 'Node_Options'],
    ['home', 'LD_PRELOAD'],
    ['project', 'DEEPSEEK_BASE_URL'],
    ['project', 'HTTPS_PROXY'],
    ['project', 'no_proxy'],
    ['home', 'NODE_TLS_REJECT_UNAUTHORIZED'],
  ];
  for (const [file, name] of refused) {
    it(`refuses ${name} in the ${file}'s file, and takes nothing of either`, async () => {
      dirs.write('project/.env', 'FINE=1\n');
      dirs.write('home/.env', 'FINE=1\n');
      const path = dirs.write(`${file}/.env`, `FINE=1\n${name}=s3cret\n`);
      const failure = await rejectionOf(Promise.resolve().then(() => read()));
      expect(failure).to.have.property('code', 'REFUSED_VARIABLE');
      expect(failure.message).to.contain(`${path} must not set ${name}`).and.not.to.contain('s3cret');
    });
  }

  it('takes proxies from the home', async () => {
    dirs.write('home/.env', 'HTTPS_PROXY=http://p\nno_proxy=host\n');
    expect((await read()).values).to.deep.equal({ HTTPS_PROXY: 'http://p', no_proxy: 'host' });
  });

  it('warns of a pipe, which might never end', () => {
    mkdirSync(project());
    execFileSync('mkfifo', [join(project(), '.env')]);
    expect(readEnvFiles({}, project(), home()).warnings).to.deep.equal([
      `${project()}/.env cannot be read: it is no regular file`,
    ]);
  });

  it('warns of a file that cannot be read, and goes on', async () => {
    mkdirSync(join(project(), '.env'), { recursive: true });
    chmodSync(project(), 0o700);
    dirs.write('home/.env', 'A=home\n');
    const { values, warnings } = await read();
    expect(values).to.deep.equal({ A: 'home' });
    expect(warnings).to.have.lengthOf(1);
    expect(warnings[0]).to.match(/^.*\/project\/\.env cannot be read: it is no regular file/);
  });
});
