import type { Ajv, ErrorObject, Options } from 'ajv';

/**
 * A JSON Schema validator that lets unknown keywords pass. The library is loaded by the first call of the process: no
 * start waits for it.
 */
export async function schemaValidator(options: Options = {}): Promise<Ajv> {
  const { default: ajv } = await import('ajv');
  return new ajv.Ajv({ strict: false, ...options });
}

/** Where a value breaks its schema: `edits[1].path`, `''` for the value itself. */
export function violationPath({ instancePath }: ErrorObject): string {
  return instancePath
    .slice(1)
    .replaceAll(/\/(\d+)(?=\/|$)/g, '[$1]')
    .replaceAll('/', '.')
    .replaceAll('~1', '/')
    .replaceAll('~0', '~');
}

/** What the message of a violation leaves out: the key that is not allowed, or the values that are. */
export function violationFacts({ params }: ErrorObject): {
  readonly additionalProperty?: string;
  readonly allowedValues?: readonly unknown[];
} {
  return params;
}
