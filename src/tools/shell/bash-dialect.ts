import { existsSync } from 'node:fs';
import type { ShellCommand, ShellDialect } from './shell-dialect.js';

/** Bash, reading its commands from a pipe. */
export class BashDialect implements ShellDialect {
  readonly file = existsSync('/bin/bash') ? '/bin/bash' : 'bash';
  readonly args = ['--noprofile', '--norc'];
  readonly prelude = 'shopt -s expand_aliases\n';
  /** Bash reads a pipe byte by byte, a file in blocks, but forks to do so. */
  readonly maxTextLength = 256;

  invoke({ source, output, lastStatus, token }: ShellCommand): string {
    const script = 'text' in source ? quote(source.text) : `"$(<${quote(source.file)})"`;
    // In front of `||` a failing status neither ends a shell with `set -e` nor runs an ERR trap.
    const restore = lastStatus === 0 ? '' : `(exit ${lastStatus})||`;
    // `\builtin` holds against aliases and functions of the user's. The empty line revives bash's parser, which takes
    // no reserved word after an `eval` that ended inside quotes.
    return `\n${restore}\\builtin eval ${script} </dev/null >${quote(output)} 2>&1;\\builtin echo ${token}$?\n`;
  }
}

/** On one line, since every line is a prompt for bash's parser; plain words stay short, which saves reads. */
function quote(text: string): string {
  if (/^[\w/.-]+$/.test(text)) return text;
  return `$'${text.replace(/[\\'\n]/g, (char) => (char === '\n' ? '\\n' : `\\${char}`))}'`;
}
