import { join } from 'node:path';
import { CodedError } from '../base/index.js';

/** A reference to a variable that is not set. */
export class UnsetVariableError extends CodedError {
  override readonly name = 'UnsetVariableError';

  /** @param path of the key that holds it, as `retry.codes[0]` */
  constructor(
    readonly path: string,
    variable: string,
  ) {
    super('UNSET_VARIABLE', `${path}: the environment variable ${variable} is not set and has no default`);
  }
}

/** What `${…}` in a row's config may refer to. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute `$DSH_HOME`. */
  readonly home: string;
}

const REFERENCE = /\$?\$\{(env|home):([^}]*)\}/g;
const WHOLE = /^\$\{(env|home):([^}]*)\}$/;

/**
 * Fills `${env:NAME}`, `${env:NAME:-default}` and `${home:path}` in every string of `config` (decision 35). A string
 * that is exactly one reference becomes a YAML scalar (number, boolean, string), and when that is empty its key is left
 * out; inside longer text it is text. An unset or empty variable takes the default. `$${…}` stands for the text `${…}`.
 *
 * @throws UnsetVariableError
 */
export function interpolate(config: unknown, surroundings: Surroundings, path = ''): unknown {
  if (typeof config === 'string') {
    const whole = WHOLE.exec(config);
    if (whole !== null) return scalar(resolveReference(whole, surroundings, path));
    return config.replaceAll(REFERENCE, (...match) => {
      const [text] = match as unknown as string[];
      if (text?.startsWith('$$')) return text.slice(1);
      return resolveReference(match as unknown as string[], surroundings, path);
    });
  }
  if (Array.isArray(config)) return config.map((item, index) => interpolate(item, surroundings, `${path}[${index}]`));
  if (typeof config !== 'object' || config === null) return config;
  const entries = Object.entries(config).map(([key, value]) => [
    key,
    interpolate(value, surroundings, path === '' ? key : `${path}.${key}`),
  ]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function resolveReference(
  [, kind, body = '']: readonly (string | undefined)[],
  at: Surroundings,
  path: string,
): string {
  if (kind === 'home') return join(at.home, body);
  const split = body.indexOf(':-');
  const name = split < 0 ? body : body.slice(0, split);
  const value = at.env[name];
  if (value !== undefined && value !== '') return value;
  if (split >= 0) return body.slice(split + 2);
  throw new UnsetVariableError(path, name);
}

/** The scalars of YAML's core schema that a config can hold. */
function scalar(text: string): string | number | boolean | undefined {
  if (text === '') return undefined;
  if (text === 'true' || text === 'false') return text === 'true';
  const isNumber = /^[-+]?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$/.test(text);
  return isNumber ? Number(text) : text;
}
