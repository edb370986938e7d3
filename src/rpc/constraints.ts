import { ValidateBy, type ValidationOptions } from 'class-validator';
import { sessionIdProblem } from '../protocol/index.js';

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

export function IsSessionId(): PropertyDecorator {
  return ValidateBy(
    { name: 'isSessionId', validator: { validate: (value) => sessionIdProblem(value) === undefined } },
    { message: (args) => `$property ${sessionIdProblem(args.value)}` },
  );
}
