import { join } from 'node:path';
import { expect } from 'chai';
import { ShellScope } from '../../support/shell-scope.js';

describe('bash, reading its commands as a script', () => {
  let shell: ShellScope;
  beforeEach(async () => {
    // A call that hangs ends well before the test does, with a result that tells.
    shell = await ShellScope.open({ timeoutMs: 5000 });
  });
  afterEach(() => shell.close());

  const unusable = (): string =>
    [
      '[shell unusable: set -n is on, or builtin or echo were redefined]',
      `[the shell was reset: the next command starts a fresh one in ${shell.workspace}]`,
    ].join('\n');

  describe('arithmetic errors', () => {
    const commands: readonly string[] = [
      'm["foo bar"]=1',
      'm[foo.txt]=1',
      'a[1/0]=3',
      'echo ${x[foo.bar]}',
      'declare -i q; q=1/0',
      'unset "a[zz/0]"; a[zz/0]=1',
      'echo $((1/0))',
      'if true; then a[1/0]=3; fi',
      'f() { local -a a; a[1/0]=3; }; f',
      'while true; do a[1/0]=3; done',
      `a[1/0]=3 #${' long'.repeat(100)}`,
    ];
    for (const command of commands) {
      it(`end ${command.slice(0, 40)} with a message and status 1, and nothing else`, async () => {
        await shell.run('kept=yes; cd /');
        expect(await shell.run(command)).to.match(/^bash: line \d+: .+\n\[exit code: 1\]$/);
        expect(await shell.run('echo "$? $kept $PWD"')).to.equal('1 yes /');
      });
    }

    it('let go of the output of their command', async () => {
      for (let i = 0; i < 20; i++) {
        await shell.run('a[1/0]=3');
        expect(await shell.run(`echo own ${i}`)).to.equal(`own ${i}`);
      }
    });
  });

  const states: readonly string[] = [
    'set -x',
    'set -v',
    'set -o posix',
    'set -u -o pipefail -C',
    'trap "true in ERR" ERR',
    'trap "printf :" DEBUG',
    'trap \'echo "+ $BASH_COMMAND"\' DEBUG',
    'BASH_XTRACEFD=1; set -x',
    'trap "printf :" ERR DEBUG; set -ETx',
  ];
  for (const state of states) {
    it(`tells every status after ${state}`, async () => {
      await shell.run(state);
      expect(await shell.run('echo a')).to.match(/a$/);
      expect(await shell.run('(exit 7)')).to.match(/\[exit code: 7\]$/);
      expect(await shell.run('echo "<$?>"')).to.match(/<7>$/);
      expect(await shell.run('a[1/0]=3')).to.match(/division by 0 .*\n\[exit code: 1\]$/);
      expect(await shell.run('echo "<$?>"')).to.match(/<1>$/);
      expect(await shell.run(`echo b #${' long'.repeat(100)}`)).to.match(/b$/);
    });
  }

  it('does not run the ERR trap for a status that it only remembers, nor end with set -e', async () => {
    await shell.run('trap "echo in trap" ERR');
    expect(await shell.run('(exit 7)')).to.match(/^in trap\n(in trap\n)?\[exit code: 7\]$/);
    expect(await shell.run('echo "<$?>"')).to.equal('<7>');
    await shell.run('trap - ERR; (exit 7)');
    expect(await shell.run('set -e')).to.equal('');
    await shell.run('if (exit 7); then :; fi; false || kept=yes');
    expect(await shell.run('echo "$- $kept"')).to.match(/e.* yes$/);
  });

  const redirections: readonly (readonly [string, string])[] = [
    ['exec 3<&0; read -u 3 x; echo "$?"', '1'],
    ['exec {fd}<&0; read -u $fd x; echo "$?"', '1'],
    ['{ echo a; } 3<&0', 'a'],
    ['while read -u 3 x; do echo "$x"; done 3<&0', ''],
    ['ls 3<&0', ''],
    ['(cat) 3<&0 <&3', ''],
    ['exec 4<&0 0</dev/zero; head -c 1 | wc -c; exec 0<&4; wc -c', '1\n0'],
    ['exec 0<&-; echo a', 'a'],
    ['eval "exec 5<&0" </dev/null; cat <&5', ''],
    ['source /dev/stdin <<< "echo sourced"', 'sourced'],
    ['read -r a b <<< "1 2"; mapfile -t lines < <(echo x; echo y); echo "$b ${lines[1]}"', '2 y'],
    ['coproc cat; echo a >&${COPROC[1]}; read -u ${COPROC[0]} x; echo $x', 'a'],
    ['select x in a b; do :; done 2>/dev/null', '[exit code: 1]'],
    ['bash -s <<< "echo nested"', 'nested'],
    ['bash; echo $?', '0'],
  ];
  for (const [command, expected] of redirections) {
    it(`leaves stdin to the command: ${command}`, async () => {
      await shell.run('kept=yes');
      expect((await shell.run(command)).trim()).to.equal(expected);
      expect(await shell.run('echo $kept; cat')).to.equal('yes');
    });
  }

  describe('shows of itself', () => {
    const messages: readonly (readonly [string, RegExp])[] = [
      ['echo "$0"', /^bash$/],
      ['f() { echo "${BASH_SOURCE[0]}"; }; f', /^bash$/],
      ['no-such-command', /^bash: line \d+: no-such-command: command not found\n\[exit code: 127\]$/],
      ['if fi', /^bash: eval: line \d+: syntax error near .+\n.*bash: eval: line \d+: `if fi'\n\[exit code: 2\]$/],
      ['echo $((1/0))', /^bash: line \d+: 1\/0: division by 0 .+\n\[exit code: 1\]$/],
      ['cd -', /^bash: line \d+: cd: OLDPWD not set\n\[exit code: 1\]$/],
      ['declare -p OLDPWD', /^declare -x OLDPWD$/],
      ['(cd /; cd - >/dev/null; pwd) | xargs basename', /^w-\w+$/],
      ['echo "$BASHOPTS" | grep -o expand_aliases', /^expand_aliases$/],
    ];
    for (const [command, expected] of messages) {
      it(`no path: ${command}`, async () => {
        const text = await shell.run(command);
        expect(text).to.match(expected);
        expect(text).not.to.contain(shell.temporary);
      });
    }

    it('the name of the script in a function of a sourced file', async () => {
      const path = join(shell.workspace, 'lib.sh');
      await shell.run(`echo 'f() { echo "\${BASH_SOURCE[0]}"; }' > ${path}`);
      expect(await shell.run(`source ${path}; f`)).to.equal(path);
    });
  });

  it('is not taken in by a file named bash in the workspace', async () => {
    await shell.run('echo "echo wrong" > bash; chmod +x bash; exit');
    expect(await shell.run('echo right; ls')).to.equal('right\nbash');
  });

  describe('ends a call whose command', () => {
    const broken: readonly (readonly [string, string])[] = [
      ['stops all execution', 'set -n'],
      ['swallows builtin', 'builtin() { :; }'],
      ['disables the builtins', 'enable -n builtin eval echo'],
    ];
    for (const [title, command] of broken) {
      it(`${title}, and resets the shell`, async () => {
        const texts = [await shell.run(command)];
        if (texts[0] === '') texts.push(await shell.run('echo a'));
        expect(texts.at(-1)).to.equal(unusable());
        expect(await shell.run('echo a')).to.equal('a');
      });
    }

    const alike: readonly (readonly [string, string, string])[] = [
      ['takes its time', 'sleep 1; echo a', 'a'],
      ['has a DEBUG trap that takes its time', 'trap "sleep 0.4" DEBUG', ''],
      ['waits for what it started', 'sleep 0.8 & wait; (exit 4)', '[exit code: 4]'],
      ['is long and takes its time', `sleep 0.8; echo a #${' long'.repeat(100)}`, 'a'],
      ['passes builtin on', 'builtin() { command builtin "$@"; }; command sleep 0.6', ''],
    ];
    for (const [title, command, expected] of alike) {
      it(`only ${title}, with its status`, async () => {
        await shell.run('kept=yes');
        expect(await shell.run(command)).to.equal(expected);
        expect(await shell.run('echo $kept')).to.equal('yes');
      });
    }
  });
});
