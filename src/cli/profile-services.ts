import { readFile } from 'node:fs/promises';
import { CodedError, describeError } from '../base/index.js';
import { Environment, Scope } from '../kernel/index.js';
import { Logger, WinstonLogger } from '../logging/index.js';
import { catalog, compose, type Profile, ProfileModules, type Row, resolveHome } from '../profile/index.js';

/**
 * Runs `work` on the services of a profile's rows. Nothing is started and no channel opened: what is asked for is
 * built, and torn down after.
 *
 * @param only picks rows; default: all
 * @throws CodedError `INVALID_PROFILE`
 */
export async function withServices<T>(
  profile: Profile,
  work: (scope: Scope) => T | Promise<T>,
  only: (row: Row) => boolean = () => true,
): Promise<T> {
  const { env } = process;
  const chosen = { ...profile, rows: profile.rows.filter(only) };
  const { rows, skipped } = await compose(chosen, new ProfileModules(), { env, home: resolveHome(env) });
  const logger = WinstonLogger.create({ level: 'warn', format: 'text', stream: process.stderr });
  const scope = Scope.root('command');
  scope.provide(Logger, logger);
  scope.provide(Environment, env);
  for (const reason of skipped) logger.warn(`an optional part is left out: ${reason}`);
  try {
    for (const { module } of rows) if (module.runtime !== undefined) await scope.load(module.runtime);
    return await work(scope);
  } finally {
    await scope.close();
    await logger.flush();
  }
}

/**
 * The profile with the prices of a file: a YAML or JSON list in the form of the row's config (decision 29). Without a
 * file it keeps its own.
 *
 * @throws CodedError `INVALID_PRICES` naming the file
 */
export async function withPrices(profile: Profile, file: string | undefined): Promise<Profile> {
  if (file === undefined) return profile;
  try {
    const [text, { default: yaml }] = await Promise.all([readFile(file, 'utf8'), import('yaml')]);
    const prices: unknown = yaml.parse(text);
    await catalog.get(MODEL_MODULE)?.configure({ prices });
    const priced = (row: Row): Row => ({ ...row, config: { ...row.config, prices } });
    return { ...profile, rows: profile.rows.map((row) => (row.module === MODEL_MODULE ? priced(row) : row)) };
  } catch (thrown) {
    throw new CodedError('INVALID_PRICES', `the prices ${file} cannot be used: ${describeError(thrown)}`);
  }
}

/** The module that knows models and prices. */
export const MODEL_MODULE = 'llm';
