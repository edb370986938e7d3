import { expect } from 'chai';
import { childEnvironment } from '../../../src/tools/shell/child-environment.js';
import { ShellScope } from '../../support/shell-scope.js';

describe('childEnvironment', () => {
  it('keeps what is harmless and drops what looks like a credential or is ours (I2)', () => {
    const parent = {
      PATH: '/bin',
      HOME: '/home/u',
      EMPTY: '',
      DEEPSEEK_API_KEY: 'x',
      my_secret_thing: 'x',
      GithubToken: 'x',
      PGPASSWORD: 'x',
      DSH_MAX_TOKENS_AS_SUCCESS: 'x',
      DSH_SESSION_ID: 'outer',
      DSH_SHELL: 'outer',
    };
    expect(childEnvironment(parent, 's-1')).to.deep.equal({
      PATH: '/bin',
      HOME: '/home/u',
      EMPTY: '',
      NO_COLOR: '1',
      TERM: 'dumb',
      PAGER: 'cat',
      GIT_PAGER: 'cat',
      BASH_SILENCE_DEPRECATION_WARNING: '1',
      DSH_SHELL: '1',
      DSH_SESSION_ID: 's-1',
    });
  });

  it('overrides what the parent says of terminal and pagers', () => {
    expect(childEnvironment({ TERM: 'xterm', PAGER: 'less' }, 's')).to.include({ TERM: 'dumb', PAGER: 'cat' });
  });

  it('hands on the home and the marker of the runtime', () => {
    const ours = { DSH_HOME: '/h', DSH_RUNTIME_MARKER: 'm' };
    expect(childEnvironment(ours, 's')).to.include(ours);
  });

  for (const [title, id, expected] of [
    ['as it is', '台 🔥\n"', '台 🔥\n"'],
    ['not at all when it cannot be a value', 'a\0b', undefined],
  ] as const) {
    it(`tells the session id ${title} (J1)`, async () => {
      expect(childEnvironment({}, id).DSH_SESSION_ID).to.equal(expected);
      const shell = await ShellScope.open({}, id);
      try {
        expect(await shell.run('printenv DSH_SESSION_ID || printf none; printf .')).to.equal(
          expected === undefined ? 'none.' : `${expected}\n.`,
        );
      } finally {
        await shell.close();
      }
    });
  }
});
