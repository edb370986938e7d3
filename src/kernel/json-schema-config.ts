import type { ErrorObject } from 'ajv';
import { ConfigError, type ConfigViolation } from './config-error.js';
import { unknownKey } from './dto-config.js';
import { schemaValidator, violationFacts, violationPath } from './schema-validator.js';

/** A JSON Schema of an object, as plain JavaScript authors describe their config. */
export type JsonSchemaConfig = { readonly type: 'object' } & { readonly [key: string]: unknown };

/** Config judged by a JSON Schema: defaults are filled in, every violation is listed. */
export async function parseJsonSchema(schema: JsonSchemaConfig, raw: unknown): Promise<object> {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    throw new ConfigError([{ path: '', message: 'config must be a mapping' }]);
  }
  const config = structuredClone(raw);
  const validate = (await schemaValidator({ allErrors: true, useDefaults: true, verbose: true })).compile(schema);
  if (!validate(config)) throw new ConfigError((validate.errors ?? []).map(violationOf));
  return config;
}

function violationOf(error: ErrorObject): ConfigViolation {
  const path = violationPath(error);
  const { additionalProperty, allowedValues } = violationFacts(error);
  if (additionalProperty !== undefined) {
    const { properties = {} } = (error.parentSchema ?? {}) as { readonly properties?: object };
    const at = path === '' ? additionalProperty : `${path}.${additionalProperty}`;
    return { path: at, message: unknownKey(Object.keys(properties).sort()) };
  }
  const values =
    allowedValues === undefined ? '' : `: ${allowedValues.map((value) => JSON.stringify(value)).join(', ')}`;
  return { path, message: `${error.message ?? 'is invalid'}${values}` };
}
