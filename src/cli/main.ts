import type { Writable } from 'node:stream';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { describeError, packageInfo } from '../base/index.js';
import { LOG_FORMATS, LOG_LEVELS, type LogFormat, type LogLevel } from '../logging/index.js';

interface LauncherOptions {
  readonly profile?: string;
  readonly dumpConfig?: true;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
  readonly patch?: readonly string[];
}

/**
 * `dsh`: what it prints for people or pipes goes to `stdout`, errors to stderr. Exits 0 after help, version and a dump,
 * 1 on a usage error or a failed boot (runtime §1.1, 1.2).
 */
export async function main(argv: readonly string[], stdout: Writable): Promise<void> {
  const program = launcher(stdout);
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) process.stderr.write(`dsh: ${describeError(thrown)}\n`);
    const code = thrown instanceof CommanderError ? thrown.exitCode : 1;
    // What was printed leaves first.
    stdout.write('', () => process.exit(code));
  }
}

function launcher(stdout: Writable): Command {
  const program = new Command('dsh')
    .description('Runs a coding agent that programs drive: newline-delimited JSON-RPC 2.0 on stdin and stdout.')
    .usage('--profile NAME [options]\n       dsh run [options] PROMPT')
    .version(packageInfo().version, '-V, --version')
    .option('--profile <name>', 'boot this profile (sdk, sdk-minimal) and serve stdin and stdout', notEmpty)
    .option('--dump-config', 'print the profile as it is composed, and exit')
    .addOption(levelOption())
    .addOption(formatOption())
    .addOption(new Option('--patch <file>').argParser(collect).hideHelp())
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => process.stderr.write(text) })
    .showHelpAfterError('Try dsh --help.')
    .exitOverride()
    .allowExcessArguments(false)
    .action((options: LauncherOptions, command: Command) => launch(options, command, stdout));
  program.addCommand(runCommand(stdout).copyInheritedSettings(program).exitOverride());
  return program;
}

async function launch(options: LauncherOptions, command: Command, stdout: Writable): Promise<void> {
  const { profile, dumpConfig, logLevel, logFormat } = options;
  if (profile === undefined) command.error('error: --profile NAME is required');
  if (options.patch !== undefined) command.error('error: --patch is not supported yet');
  if (dumpConfig === true) {
    const { dumpProfile, loadProfile } = await import('../profile/index.js');
    stdout.write(dumpProfile(await loadProfile(profile as string)));
    return;
  }
  const { runStdioHost } = await import('../host/index.js');
  await runStdioHost({ profile: profile as string, logLevel, logFormat, stdout });
}

function runCommand(stdout: Writable): Command {
  return new Command('run')
    .description('Runs one prompt in a fresh runtime and prints the answer. PROMPT - reads it from stdin.')
    .argument('<prompt>', 'what the agent is asked')
    .option('--profile <name>', 'profile of the runtime', notEmpty, 'sdk-minimal')
    .option('--provider <id>', 'model provider', notEmpty, 'deepseek-official')
    .option('--model <id>', 'model', notEmpty, 'deepseek-v4-flash')
    .option('--cwd <directory>', 'workspace of the agent', notEmpty)
    .action(async (prompt: string, options: { profile: string; provider: string; model: string; cwd?: string }) => {
      const { runPrompt } = await import('./run.js');
      const code = await runPrompt(prompt, options, stdout);
      stdout.write('', () => process.exit(code));
    });
}

function levelOption(): Option {
  return new Option('--log-level <level>', 'diagnostics on stderr')
    .choices(LOG_LEVELS)
    .env('DSH_LOG_LEVEL')
    .default('warn');
}

function formatOption(): Option {
  return new Option('--log-format <format>', 'how they look')
    .choices(LOG_FORMATS)
    .env('DSH_LOG_FORMAT')
    .default('text');
}

function notEmpty(value: string): string {
  if (value.trim() === '') throw new InvalidArgumentError('It must not be empty.');
  return value;
}

function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}
