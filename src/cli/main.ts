import type { Writable } from 'node:stream';
import { parseArgs } from 'node:util';
import { CodedError, describeError, LOG_FORMATS, LOG_LEVELS, packageInfo } from '../base/index.js';
import { ProcessSignals } from '../host/process-signals.js';
import { HELP } from './help.js';
import type { Diagnostics } from './run.js';

/** What was typed makes no sense; the message says what and ends the process with 1. */
class UsageError extends CodedError {
  override readonly name = 'UsageError';

  constructor(message: string) {
    super('USAGE', `${message}\nTry dsh --help.`);
  }
}

const LAUNCHER_OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'V' },
  profile: { type: 'string' },
  'dump-config': { type: 'boolean' },
  'log-level': { type: 'string' },
  'log-format': { type: 'string' },
  patch: { type: 'string', multiple: true },
} as const;

const RUN_OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  'log-level': { type: 'string' },
  'log-format': { type: 'string' },
  profile: { type: 'string', default: 'sdk-minimal' },
  provider: { type: 'string' },
  model: { type: 'string' },
  cwd: { type: 'string' },
} as const;

/**
 * `dsh`: what it prints for people or pipes goes to `stdout`, errors to stderr. Exits 0 after help, version and a dump,
 * 1 on a usage error or a failed boot (runtime §1.1, 1.2).
 */
export async function main(argv: readonly string[], stdout: Writable): Promise<void> {
  let code: number;
  try {
    code = argv[0] === 'run' ? await run(argv.slice(1), stdout) : await launch(argv, stdout);
  } catch (thrown) {
    process.stderr.write(`dsh: ${describeError(thrown)}\n`);
    code = 1;
  }
  // What was printed leaves first.
  stdout.write('', () => process.exit(code));
}

async function launch(argv: readonly string[], stdout: Writable): Promise<number> {
  const { values, positionals } = parse({ args: [...argv], options: LAUNCHER_OPTIONS, allowPositionals: true });
  if (values.help === true) return print(stdout, HELP);
  if (values.version === true) return print(stdout, `${packageInfo().version}\n`);
  const { profile, patch } = values;
  const [stray] = positionals;
  if (stray !== undefined) {
    const isCommand = profile === undefined;
    throw new UsageError(`${isCommand ? 'unknown command' : 'unexpected argument'} ${JSON.stringify(stray)}`);
  }
  if (profile === undefined) throw new UsageError('--profile NAME is required');
  requireText(values, ['profile']);
  if (patch !== undefined) throw new UsageError('--patch is not supported yet');
  const diagnostics = diagnosticsOf(values);
  if (values['dump-config'] === true) {
    const { dumpProfile, loadProfile } = await import('../profile/index.js');
    return print(stdout, await dumpProfile(await loadProfile(profile)));
  }
  const signals = new ProcessSignals();
  const { runStdioHost } = await import('../host/index.js');
  return runStdioHost({ profile, ...diagnostics, stdout, signals });
}

async function run(argv: readonly string[], stdout: Writable): Promise<number> {
  const { values, positionals } = parse({ args: [...argv], options: RUN_OPTIONS, allowPositionals: true });
  if (values.help === true) return print(stdout, HELP);
  const { profile, provider, model, cwd } = values;
  requireText(values, ['profile', 'provider', 'model', 'cwd']);
  const diagnostics = diagnosticsOf(values);
  const [prompt, extra] = positionals;
  if (prompt === undefined) throw new UsageError('dsh run needs a PROMPT, or - to read it from stdin');
  if (extra !== undefined) throw new UsageError('dsh run takes one PROMPT: quote it');
  const { runPrompt } = await import('./run.js');
  const route = { ...(provider !== undefined && { provider }), ...(model !== undefined && { model }) };
  return runPrompt(prompt, { profile, ...route, ...(cwd !== undefined && { cwd }), diagnostics }, stdout);
}

const parse: typeof parseArgs = (config) => {
  try {
    return parseArgs(config);
  } catch (thrown) {
    // Node goes on with advice that does not fit here.
    throw new UsageError(describeError(thrown).replace(/\. To specify a positional argument.*/s, ''));
  }
};

function diagnosticsOf(values: { readonly 'log-level'?: string; readonly 'log-format'?: string }): Diagnostics {
  const { DSH_LOG_LEVEL, DSH_LOG_FORMAT } = process.env;
  return {
    logLevel: oneOf(LOG_LEVELS, { '--log-level': values['log-level'], DSH_LOG_LEVEL }) ?? 'warn',
    logFormat: oneOf(LOG_FORMATS, { '--log-format': values['log-format'], DSH_LOG_FORMAT }) ?? 'text',
  };
}

function requireText(values: Readonly<Record<string, unknown>>, names: readonly string[]): void {
  const blank = names.find((name) => typeof values[name] === 'string' && (values[name] as string).trim() === '');
  if (blank !== undefined) throw new UsageError(`--${blank} must not be empty`);
}

/** The first of `sources` that says something, by name. */
function oneOf<T extends string>(choices: readonly T[], sources: Record<string, string | undefined>): T | undefined {
  const [name, value] = Object.entries(sources).find(([, given]) => given !== undefined && given !== '') ?? [];
  if (value === undefined) return undefined;
  const choice = choices.find((known) => known === value);
  if (choice === undefined)
    throw new UsageError(`${name} must be one of ${choices.join(', ')}, not ${JSON.stringify(value)}`);
  return choice;
}

function print(stdout: Writable, text: string): number {
  stdout.write(text);
  return 0;
}
