import type { Writable } from 'node:stream';
import { errorCode } from '../../base/index.js';
import { WinstonLogger } from '../../logging/index.js';
import { applyEnvFiles } from '../../profile/index.js';
import { FileSessionArchive } from '../../session/index.js';
import { chosenProfile } from '../profile-request.js';
import { parse, print, requireText, UsageError } from '../usage.js';
import type { ExitCode, SessionsCall, SessionsOptions } from './call.js';
import { compact, fork, gc, remove, repair } from './change.js';
import { exportLog } from './export.js';
import { SESSIONS_HELP } from './help.js';
import { list } from './list.js';
import { sessionRoot } from './session-row.js';
import { show } from './show.js';
import { verify } from './verify.js';

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const COMMON = {
  help: { ...flag, short: 'h' },
  json: flag,
  profile: { ...text, default: 'sdk' },
  patch: { ...text, multiple: true },
  root: text,
} as const;

interface Command {
  readonly run: (call: SessionsCall) => Promise<ExitCode>;
  /** Beside {@link COMMON}. */
  readonly options: Readonly<Record<string, typeof text | typeof flag>>;
}
const COMMANDS: Readonly<Record<string, Command>> = {
  list: { run: list, options: {} },
  show: { run: show, options: { file: text, prices: text } },
  verify: { run: verify, options: { file: text } },
  export: { run: exportLog, options: { file: text } },
  repair: { run: repair, options: { file: text, 'drop-damage': flag } },
  compact: { run: compact, options: { file: text, compression: text } },
  fork: { run: fork, options: { file: text, turn: text, id: text } },
  delete: { run: remove, options: { file: text } },
  gc: { run: gc, options: { 'older-than': text, keep: text, 'max-size': text, 'dry-run': flag } },
};

/**
 * `dsh sessions`: results go to `stdout`, complaints to stderr.
 *
 * @returns 0 when all is well, 1 when a problem was found or something could not be done
 * @throws UsageError; whatever the command failed with
 */
export async function sessions(argv: readonly string[], stdout: Writable): Promise<ExitCode> {
  const [name = '', ...rest] = argv;
  if (name === '-h' || name === '--help') return print(stdout, SESSIONS_HELP);
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) {
    const known = Object.keys(COMMANDS).join(', ');
    const what =
      name === '' || name.startsWith('-') ? 'a command is required' : `unknown command ${JSON.stringify(name)}`;
    throw new UsageError(`${what}: ${known}`);
  }
  const options = { ...COMMON, ...command.options };
  const { values, positionals: ids } = parse({ args: rest, options, allowPositionals: true });
  const {
    help,
    profile: profileName,
    patch,
    root,
    ...given
  } = values as typeof values & { readonly [name: string]: unknown };
  if (help === true) return print(stdout, SESSIONS_HELP);
  requireText(values, Object.keys(options));
  applyEnvFiles();
  const profile = await chosenProfile({ profile: profileName, patch });
  const logger = WinstonLogger.create({ level: 'warn', format: 'text', stream: process.stderr });
  const archive = new FileSessionArchive(root ?? sessionRoot(profile), logger);
  const output = { stdout, stderr: process.stderr };
  // Who reads may go before all is told, as `head` does: that is no failure, and ends a wait for it.
  stdout.on('error', () => undefined);
  try {
    return await command.run({ command: name, ids, options: given as SessionsOptions, profile, archive, output });
  } catch (thrown) {
    if (errorCode(thrown) === 'EPIPE') return 0;
    throw thrown;
  } finally {
    await logger.flush();
  }
}
