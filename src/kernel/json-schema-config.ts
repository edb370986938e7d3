import { ConfigError } from './config-error.js';

/** A JSON Schema of an object, as plain JavaScript authors describe their config. */
export type JsonSchemaConfig = { readonly type: 'object' } & { readonly [key: string]: unknown };

/** Config judged by a JSON Schema: defaults are filled in, every violation is listed. */
export async function parseJsonSchema(schema: JsonSchemaConfig, raw: unknown): Promise<object> {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    throw new ConfigError([{ path: '', message: 'config must be a mapping' }]);
  }
  const { default: ajv } = await import('ajv');
  const config = structuredClone(raw);
  const validate = new ajv.Ajv({ allErrors: true, useDefaults: true, strict: false }).compile(schema);
  if (!validate(config)) {
    throw new ConfigError(
      (validate.errors ?? []).map((error) => ({
        path: error.instancePath
          .replaceAll(/\/(\d+)/g, '[$1]')
          .replaceAll('/', '.')
          .replace(/^\./, ''),
        message: `${error.message ?? 'is invalid'}${describeParams(error.params)}`,
      })),
    );
  }
  return config;
}

function describeParams(params: object): string {
  const extra = (params as { additionalProperty?: string }).additionalProperty;
  return extra === undefined ? '' : ` (${extra})`;
}
