import { existsSync } from 'node:fs';
import type { ShellCommand, ShellDialect } from './shell-dialect.js';

/**
 * Bash, reading its commands from a FIFO as a script.
 *
 * Names of builtins are the one thing that a command can take away from it. After `set -n`, `enable -n builtin echo`, or
 * a function called `builtin` that does not pass on what it is given, no status is told. After `enable -n eval` one is,
 * but no command runs any more: each fails with bash's message, until the shell is reset.
 */
export class BashDialect implements ShellDialect {
  readonly file = existsSync('/bin/bash') ? '/bin/bash' : 'bash';
  readonly args = ['--noprofile', '--norc'];
  /** What `$0`, `BASH_SOURCE` and messages show. */
  readonly scriptName = 'bash';
  /** Bash reads a FIFO byte by byte, a file in blocks, but forks to do so. */
  readonly maxTextLength = 256;

  prelude(cwd: string): string {
    // Through `builtin` a redirection would not last. `cd -` must not lead to where the script is.
    const enter = `\\builtin cd -- ${quote(cwd)}||\\builtin exit 1;\\builtin unset OLDPWD;\\builtin export OLDPWD`;
    return `\\exec </dev/null;${enter};\\builtin shopt -s expand_aliases\n`;
  }

  invoke({ source, output, lastStatus, token }: ShellCommand): string {
    const script = 'text' in source ? quote(source.text) : `"$(<${quote(source.file)})"`;
    // In front of `||` a failing status neither ends a shell with `set -e` nor runs an ERR trap.
    const restore = lastStatus === 0 ? '' : `(exit ${lastStatus})||`;
    // `\builtin` holds against aliases and functions of the user's. The status has a line of its own because an error in
    // arithmetic ends the line that it is met in. The empty line revives bash's parser, which takes no reserved word
    // after an `eval` that ended inside quotes, and stays unread until the status was told.
    return `${restore}\\builtin eval ${script} </dev/null >${quote(output)} 2>&1\n\\builtin echo ${token}$?\n\n`;
  }
}

/** On one line, since every line is a prompt for bash's parser; plain words stay short, which saves reads. */
function quote(text: string): string {
  if (/^[\w/.-]+$/.test(text)) return text;
  return `$'${text.replace(/[\\'\n]/g, (char) => (char === '\n' ? '\\n' : `\\${char}`))}'`;
}
