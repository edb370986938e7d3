import { getMetadataStorage, type ValidationError, validateSync } from 'class-validator';
import type { Newable } from 'inversify';
import { ConfigError, type ConfigViolation } from './config-error.js';

/**
 * Config judged by a class-validator DTO: unknown keys are refused, nothing is converted.
 */
export async function parseDto<C extends object>(type: Newable<C>, raw: unknown): Promise<C> {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    throw new ConfigError([{ path: '', message: 'config must be a mapping' }]);
  }
  const config = Object.keys(raw).length === 0 ? new type() : await transform(type, raw);
  const errors = validateSync(config, { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: false });
  if (errors.length > 0) throw new ConfigError(flatten(errors, ''));
  return config;
}

async function transform<C extends object>(type: Newable<C>, raw: object): Promise<C> {
  const { default: transformer } = await import('class-transformer');
  return transformer.plainToInstance(type, raw, { enableImplicitConversion: false, exposeDefaultValues: true });
}

function flatten(errors: readonly ValidationError[], prefix: string): ConfigViolation[] {
  return errors.flatMap((error) => {
    const path = prefix === '' ? error.property : `${prefix}.${error.property}`;
    const { whitelistValidation: unknown, ...rules } = error.constraints ?? {};
    const messages = unknown === undefined ? Object.values(rules) : [unknownKey(keysOf(error.target))];
    const own = messages.map((message) => ({ path, message }));
    return [...own, ...flatten(error.children ?? [], path)];
  });
}

/** What is said of a key that a config cannot have. */
export function unknownKey(allowed: readonly string[]): string {
  return allowed.length === 0 ? 'is unknown: nothing is allowed here' : `is unknown; allowed: ${allowed.join(', ')}`;
}

/** The decorated members of a DTO. */
function keysOf(target: object | undefined): readonly string[] {
  if (target === undefined) return [];
  const rules = getMetadataStorage().getTargetValidationMetadatas(target.constructor, '', false, false);
  return [...new Set(rules.map(({ propertyName }) => propertyName))].sort();
}
