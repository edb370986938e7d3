import { CodedError } from '../base/index.js';

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
