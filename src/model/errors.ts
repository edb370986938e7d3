import { CodedError } from '../base/index.js';
import type { LlmFailure } from '../protocol/index.js';

/** A model call failed, or could not be made. The facts are those of {@link LlmFailure}. */
export class LlmError extends CodedError {
  override readonly name = 'LlmError';

  readonly failure: LlmFailure;

  constructor(failure: LlmFailure, options?: ErrorOptions) {
    super(failure.code, failure.message, options);
    this.failure = failure;
  }
}
