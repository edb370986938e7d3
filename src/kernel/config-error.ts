import { CodedError, errorCode } from '../base/index.js';

/** One rule that a row's config breaks, and where. */
export interface ConfigViolation {
  /** As in `retry.maxRetries`, `""` for the whole. */
  readonly path: string;
  readonly message: string;
}

/** A module's config was refused; the message lists every violation. */
export class ConfigError extends CodedError {
  override readonly name = 'ConfigError';

  readonly violations: readonly ConfigViolation[];

  constructor(violations: readonly ConfigViolation[]) {
    super(
      'INVALID_CONFIG',
      violations.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; '),
    );
    this.violations = violations;
  }
}

/** The violations of a {@link ConfigError} of any copy of this package; undefined for another error. */
export function violationsOf(thrown: unknown): readonly ConfigViolation[] | undefined {
  if (errorCode(thrown) !== 'INVALID_CONFIG') return undefined;
  return (thrown as Partial<ConfigError>).violations;
}
