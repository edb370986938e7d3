import { inject, injectable } from 'inversify';
import type { JsonObject } from '../../protocol/index.js';
import { InvalidArgsError, type Tool, type ToolCallContext } from '../../tool/index.js';
import { PersistentShell, type ShellExit, type ShellResult } from './persistent-shell.js';
import { ShellConfig } from './shell-config.js';

/** A whole script; blank, or with a NUL in it, it is refused. */
export type BashArgs = { readonly command: string };

const PARAMETERS: JsonObject = {
  type: 'object',
  properties: {
    command: { type: 'string', minLength: 1, description: 'What bash shall run: one line or a whole script.' },
  },
  required: ['command'],
};

const DESCRIPTION = `Runs a command in a bash shell that stays open for the whole session and starts in the workspace.

- State is kept between calls: the working directory, variables, functions, aliases and shell options.
- Write the command as you would type it; nothing needs XML or JSON escaping beyond the call itself.
- stdout and stderr come back together, in order. A status other than 0 is shown as \`[exit code: N]\` on the last line; no output and no such line means success.
- There is no terminal and stdin is empty: pass input by flags, pipes or here-documents, and avoid programs that ask questions, editors and pagers.
- Long output is cut after its beginning. Narrow it down: \`grep -n PATTERN FILE\`, \`sed -n '10,25p' FILE\` for a range of lines, \`| tail\`, or write it to a file and look at parts.
- A command that takes too long is stopped, and the shell is started anew. Put servers and other long jobs in the background with their output in a file, as in \`npm run dev > dev.log 2>&1 &\`, and look at that file later.
- \`exit\` ends the shell and everything it started; the next call gets a fresh one. Whether the network can be reached depends on the machine.`;

/** The model's shell (runtime §3.2). */
@injectable()
export class BashTool implements Tool<BashArgs> {
  readonly name = 'bash';
  readonly description: string;
  readonly parameters = PARAMETERS;

  constructor(
    @inject(PersistentShell) private readonly shell: PersistentShell,
    @inject(ShellConfig) config: ShellConfig,
  ) {
    this.description = config.description ?? DESCRIPTION;
  }

  async execute({ command }: BashArgs, { signal, cwd }: ToolCallContext): Promise<string> {
    if (command.trim() === '') throw new InvalidArgsError('command must not be blank');
    if (command.includes('\0')) throw new InvalidArgsError('command must not contain a NUL character');
    return present(await this.shell.run(command, signal), cwd);
  }
}

function present({ output, clippedFrom, end, lost }: ShellResult, cwd: string): string {
  const lines: string[] = [];
  if (lost !== undefined) {
    lines.push(`[${describe(lost)} after the last command: this one ran in a fresh shell in ${cwd}]`);
  }
  if (end.kind === 'timeout') {
    lines.push(`The command did not end within ${seconds(end.timeoutMs)} and was stopped. Its output until then:`);
  }
  if (output !== '') lines.push(output);
  if (clippedFrom !== undefined) {
    lines.push(
      `[output clipped: only the beginning of ${clippedFrom} bytes; narrow it down, for example with grep -n]`,
    );
  }
  if (end.kind === 'status') {
    if (end.status !== 0) lines.push(`[exit code: ${end.status}]`);
  } else {
    if (end.kind === 'unanswered') lines.push('[shell unusable: set -n is on, or builtin or echo were redefined]');
    else if (end.kind !== 'timeout') lines.push(`[${describe(end)}]`);
    lines.push(`[the shell was reset: the next command starts a fresh one in ${cwd}]`);
  }
  return lines.join('\n');
}

function describe(exit: ShellExit): string {
  return exit.kind === 'exit' ? `shell exited: code ${exit.code}` : `shell killed by signal: ${exit.signal}`;
}

function seconds(ms: number): string {
  const count = Math.max(1, Math.round(ms / 1000));
  return count === 1 ? '1 second' : `${count} seconds`;
}
