import { ValidateBy, type ValidationOptions } from 'class-validator';

const MAX_SESSION_ID_BYTES = 1_024;

export function IsNonEmptyString(options?: ValidationOptions): PropertyDecorator {
  return ValidateBy(
    { name: 'isNonEmptyString', validator: { validate: (value) => typeof value === 'string' && value !== '' } },
    { message: '$property must be a non-empty string', ...options },
  );
}

export function IsPositiveSafeInteger(options?: ValidationOptions): PropertyDecorator {
  return ValidateBy(
    { name: 'isPositiveSafeInteger', validator: { validate: (value) => Number.isSafeInteger(value) && value > 0 } },
    { message: '$property must be a positive safe integer', ...options },
  );
}

/** Decision 13: 1–1,024 bytes of UTF-8, so no lone surrogate. */
export function IsSessionId(): PropertyDecorator {
  return ValidateBy(
    {
      name: 'isSessionId',
      validator: {
        validate: (value) =>
          typeof value === 'string' &&
          value !== '' &&
          value.isWellFormed() &&
          Buffer.byteLength(value) <= MAX_SESSION_ID_BYTES,
      },
    },
    { message: `$property must be a string of 1 to ${MAX_SESSION_ID_BYTES} bytes of well-formed UTF-8` },
  );
}
