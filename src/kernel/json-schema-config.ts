import type { ErrorObject } from 'ajv';
import { ConfigError, type ConfigViolation } from './config-error.js';
import { schemaValidator, violationFacts, violationPath } from './schema-validator.js';

/** A JSON Schema of an object, as plain JavaScript authors describe their config. */
export type JsonSchemaConfig = { readonly type: 'object' } & { readonly [key: string]: unknown };

/** Config judged by a JSON Schema: defaults are filled in, every violation is listed. */
export async function parseJsonSchema(schema: JsonSchemaConfig, raw: unknown): Promise<object> {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    throw new ConfigError([{ path: '', message: 'config must be a mapping' }]);
  }
  const config = structuredClone(raw);
  const validate = (await schemaValidator({ allErrors: true, useDefaults: true })).compile(schema);
  if (!validate(config)) throw new ConfigError((validate.errors ?? []).map(violationOf));
  return config;
}

function violationOf(error: ErrorObject): ConfigViolation {
  const { additionalProperty } = violationFacts(error);
  const extra = additionalProperty === undefined ? '' : ` (${additionalProperty})`;
  return { path: violationPath(error), message: `${error.message ?? 'is invalid'}${extra}` };
}
