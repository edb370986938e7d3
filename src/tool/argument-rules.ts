import type { Ajv, ErrorObject, ValidateFunction } from 'ajv';
import { schemaValidator, violationFacts, violationPath } from '../kernel/index.js';
import { InvalidToolError } from './errors.js';
import type { Tool } from './tool.js';

/** Gives a line for every rule that the arguments break, none when they are valid. */
export type ArgumentRules = (args: unknown) => readonly string[];

const MAX_VIOLATIONS = 20;

/** Keyed by the parameters object, so that all sessions share what was compiled once. */
const compiled = new WeakMap<object, ArgumentRules>();
let loading: Promise<Ajv> | undefined;

/**
 * The schema of a tool's parameters, ready to judge. The validator is loaded by the first call of the process.
 *
 * @throws InvalidToolError the schema cannot be compiled
 */
export async function argumentRules(tool: Tool): Promise<ArgumentRules> {
  let rules = compiled.get(tool.parameters);
  if (rules === undefined) {
    loading ??= load();
    rules = compile(await loading, tool);
    compiled.set(tool.parameters, rules);
  }
  return rules;
}

/** Loads the validator ahead of the first call. */
export async function warmArgumentRules(): Promise<void> {
  loading ??= load();
  await loading;
}

function load(): Promise<Ajv> {
  // Schemas come from tool authors: unknown keywords and dialects pass, and the meta-schema, slow to compile, is not used.
  return schemaValidator({ allErrors: true, validateSchema: false, meta: false, logger: false });
}

function compile(ajv: Ajv, { name, parameters }: Tool): ArgumentRules {
  let validate: ValidateFunction;
  try {
    validate = ajv.compile(parameters);
  } catch (thrown) {
    throw InvalidToolError.unusableSchema(name, thrown);
  } finally {
    // Ajv would keep the schema for ever, and refuse a second one with the same `$id`.
    ajv.removeSchema(parameters);
  }
  return (args) => {
    if (validate(args)) return [];
    const errors = validate.errors ?? [];
    const lines = errors.slice(0, MAX_VIOLATIONS).map(describe);
    return errors.length > MAX_VIOLATIONS ? [...lines, `and ${errors.length - MAX_VIOLATIONS} more`] : lines;
  };
}

function describe(error: ErrorObject): string {
  const path = violationPath(error);
  const { allowedValues, additionalProperty } = violationFacts(error);
  const detail =
    allowedValues === undefined ? additionalProperty : allowedValues.map((v) => JSON.stringify(v)).join(', ');
  return `${path === '' ? '' : `${path} `}${error.message ?? 'is invalid'}${detail === undefined ? '' : ` (${detail})`}`;
}
