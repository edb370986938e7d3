import { resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { describeError, LOG_FORMATS, LOG_LEVELS, packageInfo } from '../base/index.js';
import { ProcessSignals } from '../host/process-signals.js';
import { HELP } from './help.js';
import type { Diagnostics } from './run.js';
import { parse, print, requireText, UsageError } from './usage.js';

const LAUNCHER_OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'V' },
  profile: { type: 'string' },
  'from-default-profile': { type: 'string' },
  patch: { type: 'string', multiple: true },
  'dump-config': { type: 'boolean' },
  'dump-default-config': { type: 'boolean' },
  trace: { type: 'string' },
  'log-level': { type: 'string' },
  'log-format': { type: 'string' },
} as const;

const RUN_OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  'log-level': { type: 'string' },
  'log-format': { type: 'string' },
  profile: { type: 'string', default: 'sdk-minimal' },
  patch: { type: 'string', multiple: true },
  trace: { type: 'string' },
  provider: { type: 'string' },
  model: { type: 'string' },
  cwd: { type: 'string' },
} as const;

const MODELS_OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  json: { type: 'boolean', default: false },
  profile: { type: 'string', default: 'sdk' },
  patch: { type: 'string', multiple: true },
  prices: { type: 'string' },
} as const;

interface Command {
  readonly run: (argv: readonly string[], stdout: Writable) => Promise<number>;
  /** What prints its help. */
  readonly help: string;
}
const LAUNCH: Command = { run: launch, help: 'dsh --help' };
const COMMANDS: ReadonlyMap<string | undefined, Command> = new Map([
  ['run', { run, help: 'dsh --help' }],
  ['models', { run: models, help: 'dsh --help' }],
  ['plugin', { run: plugin, help: 'dsh plugin --help' }],
  ['sessions', { run: sessions, help: 'dsh sessions --help' }],
]);

/**
 * `dsh`: what it prints for people or pipes goes to `stdout`, errors to stderr. Exits 0 after help, version and a dump,
 * 1 on a usage error or when what was asked for failed (runtime §1.1, 1.2).
 */
export async function main(argv: readonly string[], stdout: Writable): Promise<void> {
  const named = COMMANDS.get(argv[0]);
  const command = named ?? LAUNCH;
  let code: number;
  try {
    code = await command.run(named === undefined ? argv : argv.slice(1), stdout);
  } catch (thrown) {
    const isUsage = thrown instanceof UsageError;
    process.stderr.write(`dsh: ${describeError(thrown)}\n${isUsage ? `Try ${command.help}.\n` : ''}`);
    code = 1;
  }
  // What was printed leaves first.
  stdout.write('', () => process.exit(code));
}

async function launch(argv: readonly string[], stdout: Writable): Promise<number> {
  const { values, positionals } = parse({ args: [...argv], options: LAUNCHER_OPTIONS, allowPositionals: true });
  if (values.help === true) return print(stdout, HELP);
  if (values.version === true) return print(stdout, `${packageInfo().version}\n`);
  const { profile, patch, 'from-default-profile': template } = values;
  const [stray] = positionals;
  if (stray !== undefined) {
    const isCommand = profile === undefined;
    throw new UsageError(`${isCommand ? 'unknown command' : 'unexpected argument'} ${JSON.stringify(stray)}`);
  }
  if (profile === undefined) throw new UsageError('--profile NAME is required');
  requireText(values, ['profile', 'patch', 'from-default-profile', 'trace']);
  const dump = dumpOf(values);
  if (dump === 'default' && patch !== undefined)
    throw new UsageError('--dump-default-config shows no --patch: leave it out');
  const diagnostics = diagnosticsOf(values);
  if (template !== undefined) {
    const { createProfile, resolveHome } = await import('../profile/index.js');
    await createProfile(resolveHome(process.env), profile, template);
  }
  if (dump !== undefined) {
    const { dumpedProfile } = await import('./dump.js');
    return print(stdout, await dumpedProfile(dump, { profile, patch }));
  }
  const patches = (patch ?? []).map((file) => resolve(file));
  const signals = new ProcessSignals();
  const { runStdioHost } = await import('../host/index.js');
  const traced = values.trace === undefined ? {} : { trace: resolve(values.trace) };
  return runStdioHost({ profile, patches, ...traced, ...diagnostics, stdout, signals });
}

async function run(argv: readonly string[], stdout: Writable): Promise<number> {
  const { values, positionals } = parse({ args: [...argv], options: RUN_OPTIONS, allowPositionals: true });
  if (values.help === true) return print(stdout, HELP);
  const { profile, patch: patches, trace, provider, model, cwd } = values;
  requireText(values, ['profile', 'patch', 'trace', 'provider', 'model', 'cwd']);
  const diagnostics = diagnosticsOf(values);
  const [prompt, extra] = positionals;
  if (prompt === undefined) throw new UsageError('dsh run needs a PROMPT, or - to read it from stdin');
  if (extra !== undefined) throw new UsageError('dsh run takes one PROMPT: quote it');
  const { runPrompt } = await import('./run.js');
  const route = { ...(provider !== undefined && { provider }), ...(model !== undefined && { model }) };
  const where = {
    profile,
    ...(patches !== undefined && { patches }),
    ...(cwd !== undefined && { cwd }),
    ...(trace !== undefined && { trace }),
  };
  return runPrompt(prompt, { ...where, ...route, diagnostics }, stdout);
}

async function models(argv: readonly string[], stdout: Writable): Promise<number> {
  const { values, positionals } = parse({ args: [...argv], options: MODELS_OPTIONS, allowPositionals: true });
  const { help, profile, patch, prices, json } = values;
  if (help === true) return print(stdout, HELP);
  requireText(values, ['profile', 'patch', 'prices']);
  if (positionals.length > 0) throw new UsageError(`unexpected argument ${JSON.stringify(positionals[0])}`);
  const { listModels } = await import('./models.js');
  return listModels({ profile, patch, prices, json }, stdout);
}

async function plugin(argv: readonly string[], stdout: Writable): Promise<number> {
  const commands = await import('./plugin/plugin.js');
  return commands.plugin(argv, stdout);
}

async function sessions(argv: readonly string[], stdout: Writable): Promise<number> {
  const commands = await import('./sessions/sessions.js');
  return commands.sessions(argv, stdout);
}

/** @throws UsageError both kinds were asked for */
function dumpOf(values: {
  readonly 'dump-config'?: boolean;
  readonly 'dump-default-config'?: boolean;
}): 'composed' | 'default' | undefined {
  const { 'dump-config': composed = false, 'dump-default-config': shipped = false } = values;
  if (composed && shipped) throw new UsageError('--dump-config and --dump-default-config exclude each other');
  if (composed) return 'composed';
  return shipped ? 'default' : undefined;
}

function diagnosticsOf(values: { readonly 'log-level'?: string; readonly 'log-format'?: string }): Diagnostics {
  const { DSH_LOG_LEVEL, DSH_LOG_FORMAT } = process.env;
  return {
    logLevel: oneOf(LOG_LEVELS, { '--log-level': values['log-level'], DSH_LOG_LEVEL }) ?? 'warn',
    logFormat: oneOf(LOG_FORMATS, { '--log-format': values['log-format'], DSH_LOG_FORMAT }) ?? 'text',
  };
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
