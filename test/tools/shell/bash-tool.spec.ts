import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { until } from '../../support/process-table.js';
import { runs } from '../../support/runs.js';
import { ShellScope } from '../../support/shell-scope.js';
import { textOf } from '../../support/tool-scope.js';

describe('bash', () => {
  let shell: ShellScope;
  beforeEach(async () => {
    shell = await ShellScope.open();
  });
  afterEach(() => shell.close());

  const reset = (): string => `[the shell was reset: the next command starts a fresh one in ${shell.workspace}]`;

  it('starts in the workspace', async () => {
    expect(await shell.run('pwd')).to.equal(shell.workspace);
  });

  it('keeps directory, variables, functions, aliases and options from one call to the next', async () => {
    await shell.run('cd / && export COUNT=1; plain=2; f() { echo "f $1"; }; alias hello="echo alias"; set -o pipefail');
    expect(await shell.run('pwd; echo $COUNT $plain; f x; hello; false | true; echo $?')).to.equal(
      '/\n1 2\nf x\nalias\n1',
    );
  });

  it('keeps files that the shell itself opens', async () => {
    await shell.run('exec 7>out.txt');
    await shell.run('echo via 7 >&7');
    expect(readFileSync(join(shell.workspace, 'out.txt'), 'utf8')).to.equal('via 7\n');
  });

  it('tells the last status to the next command', async () => {
    expect(await shell.run('(exit 7)')).to.equal('[exit code: 7]');
    expect(await shell.run('echo $?')).to.equal('7');
    expect(await shell.run('echo $?')).to.equal('0');
  });

  const results: readonly (readonly [string, string, string])[] = [
    ['success without output', 'true', ''],
    ['output without its last newline', 'printf "a\\n\\n"', 'a\n'],
    ['output that has no newline', 'printf a', 'a'],
    ['a status', 'false', '[exit code: 1]'],
    ['output and a status', 'echo a; exit_with() { return 3; }; exit_with', 'a\n[exit code: 3]'],
    ['the status of the last element of a pipeline', 'true | (exit 5)', '[exit code: 5]'],
    [
      'stderr in order with stdout',
      'echo 1; echo 2 >&2; echo 3; ls /nowhere-at-all 2>/dev/null; echo 4 >&2',
      '1\n2\n3\n4',
    ],
    ['nothing on stdin (B9)', 'cat; read x; echo "$? [$x]"', '1 []'],
    ['several lines', 'for i in 1 2\ndo\n  echo $i\ndone', '1\n2'],
    ['quotes', `echo "it's" 'a "b"' \\' "\\$HOME" $'\\t'.`, `it's a "b" ' $HOME \t.`],
    ['a here-document', "x=1\ncat <<EOF\n$x 'q' \"r\"\nEOF\ncat <<'EOF'\n$x\nEOF", `1 'q' "r"\n$x`],
    ['comments', 'echo a # b', 'a'],
    ['a line that goes on', 'echo a \\\n  b', 'a b'],
    [
      'control characters',
      "printf '\\001\\177\\r\\033[1m'; echo $'\u0001\u007f'",
      '\u0001\u007f\r\u001b[1m\u0001\u007f',
    ],
    ['a token much like the shell’s own', 'echo 01234567-1:0; echo 01234567-1', '01234567-1:0\n01234567-1'],
    ['a function named like a builtin', 'echo() { builtin echo no; }; eval() { :; }; printf yes', 'yes'],
  ];
  for (const [title, command, expected] of results) {
    it(`shows ${title}`, async () => {
      expect(await shell.run(command)).to.equal(expected);
      // Whatever it was, the shell is usable.
      expect(await shell.run('unset -f echo eval; unalias -a; printf alive')).to.equal('alive');
    });
  }

  const broken: readonly string[] = [
    'echo "abc',
    "echo 'abc",
    'echo `abc',
    'echo $(abc',
    'echo ${abc',
    'if true; then',
    'echo a; )',
    'done',
    'echo "$(cat <<X\nunterminated',
    '(',
    '{',
    'f() {',
    'case x in',
    '[[ a',
    '$((1+',
  ];
  for (const command of broken) {
    it(`reports ${JSON.stringify(command)} as an error of its own and stays usable`, async () => {
      await shell.run('kept=yes');
      expect(await shell.run(command)).to.match(/\[exit code: [1-9]\d*\]$/);
      expect(await shell.run('if true; then\n  echo "$kept"\nfi')).to.equal('yes');
    });
  }

  it('shows neither its own commands nor their traces', async () => {
    expect(await shell.run('set -x; echo a')).to.equal('++ echo a\na');
    expect(await shell.run('set +x; trap "echo in trap" DEBUG')).to.equal('++ set +x');
    expect(await shell.run('echo b')).to.equal('in trap\nb');
    expect(await shell.run('trap - DEBUG; set; alias; declare -F')).not.to.match(/builtin|\/dev\/null/);
  });

  it('runs whatever text it is given, short or long, as bash would', async () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 400 }).map((s) => s.replaceAll('\0', ''));
    await fc.assert(
      fc.asyncProperty(text, fc.boolean(), async (content, isLong) => {
        const quoted = `'${content.replaceAll("'", "'\\''")}'`;
        const command = `x=${quoted}\nprintf '%s.' "$x"${isLong ? ` #${' long'.repeat(200)}` : ''}`;
        expect(await shell.run(command)).to.equal(`${content}.`);
      }),
      runs(60),
    );
  });

  it('runs a long script, and leaves no file of it', async () => {
    const lines = Array.from({ length: 5000 }, (_, i) => `n=${i}`);
    expect(await shell.run([...lines, 'echo $n', 'return 2>/dev/null', 'echo "$0"'].join('\n'))).to.match(
      /^4999\n.*bash$/,
    );
    const [directory, ...others] = shell.leftovers();
    expect(others).to.deep.equal([]);
    expect(await shell.run(`ls "$TMPDIR/${directory}" | grep -v '^[0-9]*$'`)).to.equal('bash');
  });

  for (const command of ['', ' \n\t']) {
    it(`refuses the blank command ${JSON.stringify(command)}`, async () => {
      const outcome = await shell.tools.call('bash', { command });
      expect(outcome.error?.code).to.equal('INVALID_ARGS');
      expect(shell.processes()).to.deep.equal([]);
    });
  }

  it('refuses a NUL character', async () => {
    const outcome = await shell.tools.call('bash', { command: 'echo a\0b' });
    expect(textOf(outcome)).to.equal('Error: command must not contain a NUL character');
  });

  describe('when the shell ends', () => {
    const endings: readonly (readonly [string, string])[] = [
      ['exit 9', '[shell exited: code 9]'],
      ['exit', '[shell exited: code 0]'],
      ['printf last; exit 4', 'last\n[shell exited: code 4]'],
      ['exec true', '[shell exited: code 0]'],
      ['exec bash -c "echo replaced; exit 3"', 'replaced\n[shell exited: code 3]'],
      ['set -e; false; echo unreached', '[shell exited: code 1]'],
      ['trap "echo bye" EXIT; exit 2', 'bye\n[shell exited: code 2]'],
      ['echo a; kill -KILL $$', 'a\n[shell killed by signal: SIGKILL]'],
      ['kill -TERM $$', '[shell killed by signal: SIGTERM]'],
      ['head -c 300000 /dev/zero | tr "\\0" "\\n" | uniq; exit 1', '\n[shell exited: code 1]'],
    ];
    for (const [command, expected] of endings) {
      it(`by ${command}, says so, and starts a fresh one in the workspace`, async () => {
        await shell.run('cd /; kept=yes');
        const text = await shell.run(command);
        expect(text.replace(/^\n/, '')).to.equal(`${expected.replace(/^\n/, '')}\n${reset()}`);
        expect(await shell.run('pwd; echo "[$kept]"')).to.equal(`${shell.workspace}\n[]`);
      });
    }

    it('between two calls, tells the next one', async () => {
      const pid = await shell.run('(until [ -e go ]; do sleep 0.01; done; kill -KILL $$) & kept=yes; echo $$');
      await writeFile(join(shell.workspace, 'go'), '');
      await until(() => !existsSync(`/proc/${pid}`));
      expect(await shell.run('echo "[$kept]"')).to.equal(
        `[shell killed by signal: SIGKILL after the last command: this one ran in a fresh shell in ${shell.workspace}]\n[]`,
      );
      expect(await shell.run('echo a')).to.equal('a');
    });

    it('leaves none of its background processes behind', async () => {
      await shell.run('sleep 600 & (setsid_is_not_used=1; sleep 601 &)');
      await shell.run('exit');
      expect(shell.processes()).to.deep.equal([]);
    });
  });

  describe('output', () => {
    it('is whole up to the limit, and its head with a notice above', async () => {
      const exact = 'a'.repeat(16_000);
      expect(await shell.run('head -c 16000 /dev/zero | tr "\\0" a; echo')).to.equal(exact);
      const text = await shell.run('head -c 16001 /dev/zero | tr "\\0" a; (exit 3)');
      const [head, notice, status] = text.split('\n');
      expect(head).to.equal(exact);
      expect(notice).to.match(/^\[output clipped: only the beginning of 16001 bytes; .*grep -n\]$/);
      expect(status).to.equal('[exit code: 3]');
    });

    it('is never cut inside a character (A8)', async () => {
      writeFileSync(join(shell.workspace, 'fire'), `${'x'.repeat(15_999)}🔥`);
      const text = await shell.run('cat fire');
      expect(text.split('\n')[0]).to.equal('x'.repeat(15_999));
      expect(text.isWellFormed()).to.equal(true);
    });

    it('keeps bytes that are no UTF-8 apart from those that are', async () => {
      expect(await shell.run("printf 'a\\377b\\0c\\344\\270\\200'")).to.equal('a\ufffdb\0c一');
    });

    it('is counted and dropped beyond the limit, without piling up (F1)', async () => {
      await shell.run('true');
      const before = process.memoryUsage().rss;
      const text = await shell.run('head -c 157000000 /dev/zero | tr "\\0" a');
      expect(text).to.contain('only the beginning of 157000000 bytes');
      expect(process.memoryUsage().rss - before).to.be.lessThan(60_000_000);
    });
  });

  describe('background processes', () => {
    it('do not hold up the call, and what they write later is not taken for output of the next', async () => {
      expect(await shell.run('(sleep 0.02; echo late; echo later >&2; touch done) & echo started')).to.equal('started');
      let texts = '';
      while ((await shell.run('ls')) !== 'done') texts += await shell.run('echo own');
      expect(texts.replaceAll('own', '')).to.equal('');
    });

    it('can go on writing for as long as they live', async () => {
      // More than a pipe holds: it would block, or be killed, if nobody read.
      await shell.run('(for i in $(seq 1 40000); do echo "line $i"; done; echo alive > state) &');
      await shell.run('until [ -e state ]; do sleep 0.01; done');
      expect(await shell.run('cat state')).to.equal('alive');
    });

    it('may be many at a time', async () => {
      for (let i = 0; i < 20; i++) expect(await shell.run(`sleep 600 & echo ${i}`)).to.equal(`${i}`);
      // A child that is just executing its program has no environment to be known by for a moment.
      await until(() => shell.processes().length === 21);
    });
  });

  it('runs the calls of a session one after another, in order', async () => {
    const texts = await Promise.all(
      Array.from({ length: 10 }, (_, i) => shell.run(`n=$((n + 1)); echo begin ${i}; sleep 0.00${9 - i}; echo $n`)),
    );
    expect(texts).to.deep.equal(Array.from({ length: 10 }, (_, i) => `begin ${i}\n${i + 1}`));
  });

  it('is each session’s own', async () => {
    const other = await ShellScope.open();
    try {
      await Promise.all([shell.run('who=first; cd /'), other.run('who=second')]);
      expect(await shell.run('echo $who $PWD')).to.equal('first /');
      expect(await other.run('echo $who $PWD')).to.equal(`second ${other.workspace}`);
    } finally {
      await other.close();
    }
  });

  it('survives the removal of its temporary directory', async () => {
    await shell.run('kept=yes; rm -rf "$TMPDIR"/*; sleep 600 &');
    expect(await shell.run('echo $kept')).to.equal('yes');
    expect(await shell.run(`echo $kept #${'x'.repeat(2000)}`)).to.equal('yes');
  });
});
