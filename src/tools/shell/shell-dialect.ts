/** One command on its way to a shell. */
export interface ShellCommand {
  /** The command itself, or an absolute path of a file that holds it. */
  readonly source: { readonly text: string } | { readonly file: string };
  /** Absolute path of what becomes its stdout and stderr. */
  readonly output: string;
  /** What `$?` is when it begins. */
  readonly lastStatus: number;
  /** Without characters that are special to any shell. */
  readonly token: string;
}

/** What is peculiar to a kind of shell: how it is started, and what it reads as its script. */
export interface ShellDialect {
  readonly file: string;
  /** What stands before the name of the script. */
  readonly args: readonly string[];
  /** Relative to the directory that the shell is started in. */
  readonly scriptName: string;
  /** Longest command, in characters, that is better sent as text than as a file. */
  readonly maxTextLength: number;
  /** What it reads first: gives up its stdin, and enters the workspace, an absolute path, or ends the shell. */
  prelude(cwd: string): string;
  /**
   * What the shell has to read to run a command with stdin from nowhere, and then to write a line `<token><status>` on
   * its own stdout, whatever the command was: no text of it may end what surrounds it. The shell reads the end of it
   * only after it has told the status.
   */
  invoke(command: ShellCommand): string;
}
