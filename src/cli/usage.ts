import type { Writable } from 'node:stream';
import { parseArgs } from 'node:util';
import { CodedError, describeError } from '../base/index.js';

/** What was typed makes no sense; the message says what. */
export class UsageError extends CodedError {
  override readonly name = 'UsageError';

  constructor(message: string) {
    super('USAGE', message);
  }
}

/** As Node's `parseArgs`, whose complaints become {@link UsageError}s. */
export const parse: typeof parseArgs = (config) => {
  try {
    return parseArgs(config);
  } catch (thrown) {
    // Node goes on with advice that does not fit here.
    throw new UsageError(describeError(thrown).replace(/\. To specify a positional argument.*/s, ''));
  }
};

/** @throws UsageError one of the named options was given without anything in it */
export function requireText(values: Readonly<Record<string, unknown>>, names: readonly string[]): void {
  const isBlank = (value: unknown): boolean => typeof value === 'string' && value.trim() === '';
  const blank = names.find((name) => [values[name]].flat().some(isBlank));
  if (blank !== undefined) throw new UsageError(`--${blank} must not be empty`);
}

/** Prints, and gives the exit code of success. */
export function print(stdout: Writable, text: string): 0 {
  stdout.write(text);
  return 0;
}
