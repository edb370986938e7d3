import { ValidateBy, type ValidationOptions } from 'class-validator';
import { sessionIdProblem } from '../protocol/index.js';

/** A string of one character or more, blank or not; `options` may replace the message. */
export function IsNonEmptyString(options?: ValidationOptions): PropertyDecorator {
  return ValidateBy(
    { name: 'isNonEmptyString', validator: { validate: (value) => typeof value === 'string' && value !== '' } },
    { message: '$property must be a non-empty string', ...options },
  );
}

/** A number from 1 to `Number.MAX_SAFE_INTEGER`; `options` may replace the message. */
export function IsPositiveSafeInteger(options?: ValidationOptions): PropertyDecorator {
  return ValidateBy(
    { name: 'isPositiveSafeInteger', validator: { validate: (value) => Number.isSafeInteger(value) && value > 0 } },
    { message: '$property must be a positive safe integer', ...options },
  );
}

/** 1–1,024 bytes of UTF-8 (decision 13); the message says which rule is broken. */
export function IsSessionId(): PropertyDecorator {
  return ValidateBy(
    { name: 'isSessionId', validator: { validate: (value) => sessionIdProblem(value) === undefined } },
    { message: (args) => `$property ${sessionIdProblem(args.value)}` },
  );
}
