import { IsInt, Max, Min, ValidateBy, type ValidationArguments, validateSync } from 'class-validator';
import type { Newable } from 'inversify';
import { isObject, MAX_TIMER_MS } from '../../base/index.js';
import { isHttpUrl } from './chat-route.js';

/** A positive safe integer. */
export function IsCount(): PropertyDecorator {
  return ValidateBy({
    name: 'isCount',
    validator: {
      validate: (value) => Number.isSafeInteger(value) && (value as number) > 0,
      defaultMessage: (args) => `${args?.property} must be a positive safe integer`,
    },
  });
}

/** Whole milliseconds that a timer can keep. */
export function IsMilliseconds(least = 1): PropertyDecorator {
  return (target, property) => {
    IsInt()(target, property);
    Min(least)(target, property);
    Max(MAX_TIMER_MS)(target, property);
  };
}

/** No more than another property. */
export function IsAtMost(other: string): PropertyDecorator {
  return ValidateBy({
    name: 'isAtMost',
    validator: {
      validate: (value, args) =>
        !(Number(value) > Number((args?.object as Record<string, unknown> | undefined)?.[other])),
      defaultMessage: (args) => `${args?.property} must not be above ${other}`,
    },
  });
}

/** What `isHttpUrl` accepts. */
export function IsHttpUrl(): PropertyDecorator {
  return ValidateBy({
    name: 'isHttpUrl',
    validator: {
      validate: isHttpUrl,
      defaultMessage: (args) => `${args?.property} must be an http or https URL`,
    },
  });
}

/** What a validator reports: the problem, or undefined. It gets the value and the name of the property. */
export function HasNo(problem: (value: unknown, property: string) => string | undefined): PropertyDecorator {
  const of = (args?: ValidationArguments): string | undefined => problem(args?.value, args?.property ?? '');
  return ValidateBy({
    name: 'hasNoProblem',
    validator: { validate: (_, args) => of(args) === undefined, defaultMessage: (args) => of(args) ?? '' },
  });
}

/**
 * A list of what a DTO accepts, by ids that differ. The entries stay as they are. Judged here rather than by `@Type`,
 * which would load class-transformer for every start; a message then names the entry, too.
 */
export function IsModelListOf(type: Newable<object>): PropertyDecorator {
  return HasNo((value, property) => {
    if (!Array.isArray(value)) return `${property} must be a list`;
    const ids = new Set<unknown>();
    for (const [index, entry] of value.entries()) {
      const problem = problemOf(type, entry);
      if (problem !== undefined) return `${property}[${index}]${problem}`;
      ids.add((entry as { readonly id?: unknown }).id);
    }
    return ids.size < value.length ? `${property} must not name an id twice` : undefined;
  });
}

/** A mapping of what a DTO accepts; it stays as it is, without the DTO's defaults. */
export function IsMappingOf(type: Newable<object>): PropertyDecorator {
  return HasNo((value, property) => {
    const problem = problemOf(type, value);
    return problem === undefined ? undefined : `${property}${problem}`;
  });
}

function problemOf(type: Newable<object>, entry: unknown): string | undefined {
  if (!isObject(entry)) return ' must be a mapping';
  const dto = Object.assign(new type(), entry);
  const [error] = validateSync(dto, { whitelist: true, forbidNonWhitelisted: true });
  const message = Object.values(error?.constraints ?? {})[0];
  return message === undefined ? undefined : `: ${message}`;
}
