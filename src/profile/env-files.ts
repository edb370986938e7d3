import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { CodedError, readSmallFile, toError } from '../base/index.js';
import { resolveHome } from './home.js';

/** What the `.env` files add to an environment. */
export interface EnvFiles {
  /** Names that the environment does not have, an empty value included. */
  readonly values: Readonly<Record<string, string>>;
  /** Files that could not be read, a line each; without a value. */
  readonly warnings: readonly string[];
}

const PREFIXES = ['DSH_', 'XDG_', 'DYLD_', 'BASH_FUNC_'];
const PROXIES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'];
const REFUSED = new Set([
  ...['PATH', 'HOME', 'USERPROFILE', 'SHELL', 'NODE_OPTIONS', 'NODE_PATH', 'NODE_EXTRA_CA_CERTS'],
  ...['LD_PRELOAD', 'LD_LIBRARY_PATH', 'LD_AUDIT', 'BASH_ENV', 'ENV', 'SHELLOPTS', 'BASHOPTS', 'PERL5OPT', 'PERL5LIB'],
  ...['PYTHONSTARTUP', 'PYTHONPATH', 'PYTHONHOME', 'RUBYOPT', 'RUBYLIB'],
  ...['JAVA_TOOL_OPTIONS', '_JAVA_OPTIONS', 'JDK_JAVA_OPTIONS'],
  ...['GIT_SSH', 'GIT_SSH_COMMAND', 'GIT_EXTERNAL_DIFF', 'GIT_PAGER', 'GIT_EDITOR', 'GIT_ASKPASS', 'SSH_ASKPASS'],
  ...['GIT_CONFIG_GLOBAL', 'GIT_CONFIG_SYSTEM', 'GIT_CONFIG_COUNT', 'EDITOR', 'VISUAL', 'PAGER', 'BROWSER'],
  ...['DEEPSEEK_BASE_URL', 'DEEPSEEK_SEARCH_BASE_URL', 'SSL_CERT_FILE', 'SSL_CERT_DIR', ...PROXIES],
  ...['REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE', 'NODE_TLS_REJECT_UNAUTHORIZED'],
]);

/**
 * The `.env` of the directory that dsh was started in, then that of the home; nobody else's (runtime §1.7). What the
 * environment has stays, and the first file goes before the second. Proxies are taken from the home's only.
 *
 * @throws CodedError `REFUSED_VARIABLE` naming file and variable: what decides how programs start is not a project's
 *   to set; then nothing of either file counts
 */
export function readEnvFiles(
  env: Readonly<Record<string, string | undefined>>,
  directory: string,
  home: string,
): EnvFiles {
  const warnings: string[] = [];
  const values: Record<string, string> = {};
  const places = home === directory ? [home] : [directory, home];
  const files = places.map((place) => readEnvFile(join(place, '.env'), place === home, warnings));
  for (const [name, value] of files.flatMap((file) => Object.entries(file))) {
    if (env[name] === undefined && !Object.hasOwn(values, name)) values[name] = value;
  }
  return { values, warnings };
}

/**
 * Gives this process what the `.env` files of its directory and its home add, and tells on stderr which cannot be read.
 * Throws as {@link readEnvFiles} does.
 */
export function applyEnvFiles(): void {
  const { values, warnings } = readEnvFiles(process.env, process.cwd(), resolveHome(process.env));
  for (const warning of warnings) process.stderr.write(`dsh: ${warning}\n`);
  Object.assign(process.env, values);
}

function readEnvFile(file: string, isHome: boolean, warnings: string[]): Readonly<Record<string, string>> {
  let text: string | undefined;
  try {
    text = readSmallFile(file);
  } catch (thrown) {
    warnings.push(`${file} cannot be read: ${toError(thrown).message}`);
  }
  if (text === undefined) return {};
  const values = parseEnv(text) as Record<string, string>;
  const refused = Object.keys(values).find((name) => isRefused(name.toUpperCase(), isHome));
  if (refused === undefined) return values;
  const problem = `${file} must not set ${refused}: it decides how programs start or whom they talk to; set it in the environment`;
  throw new CodedError('REFUSED_VARIABLE', problem);
}

function isRefused(name: string, isHome: boolean): boolean {
  if (isHome && PROXIES.includes(name)) return false;
  return REFUSED.has(name) || PREFIXES.some((prefix) => name.startsWith(prefix));
}
