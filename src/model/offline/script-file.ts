import { readFile } from 'node:fs/promises';
import type { ErrorObject } from 'ajv';
import { toError } from '../../base/index.js';
import { schemaValidator, violationFacts, violationPath } from '../../kernel/index.js';
import { LlmError } from '../errors.js';
import type { Answer } from './answer.js';
import { SCRIPT_SCHEMA } from './script-schema.js';

/** One answer of a script (decision 24), as it is played. */
export interface ScriptItem extends Answer {
  readonly when?: { readonly lastMessageIncludes: string };
  /** Code points a delta. */
  readonly chunkSize?: number;
  /** Milliseconds before each delta. */
  readonly delayMs?: number;
  /** Never ends: only an abort does. */
  readonly hang?: boolean;
  readonly error?: ScriptError;
}
/** How a scripted call fails (decision 24). Without `code` the status gives it, else it is `UNKNOWN`. */
export interface ScriptError {
  readonly status?: number;
  readonly code?: string;
  readonly message: string;
  readonly retryAfterMs?: number;
  /** Deltas of the item that come before it; default: all of them. */
  readonly afterDeltas?: number;
}

type WrittenItem = Omit<ScriptItem, 'toolCalls'> & {
  readonly toolCalls?: readonly { readonly id?: string; readonly name: string; readonly arguments: string | object }[];
};

/**
 * Reads and judges a script file. Calls without an id get `call-<n>`, unique in the script.
 *
 * @throws LlmError `SCRIPT_UNREADABLE`, `INVALID_SCRIPT`, both naming the file
 */
export async function readScript(path: string): Promise<readonly ScriptItem[]> {
  const [text, { default: yaml }, ajv] = await Promise.all([read(path), import('yaml'), schemaValidator()]);
  let written: unknown;
  try {
    written = yaml.parse(text);
  } catch (thrown) {
    throw invalid(path, toError(thrown).message, thrown);
  }
  const validate = ajv.compile<readonly WrittenItem[]>(SCRIPT_SCHEMA);
  if (!validate(written)) throw invalid(path, describe(validate.errors?.[0]));
  return withCallIds(written);
}

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (thrown) {
    const message = `cannot read the script ${path}: ${toError(thrown).message}`;
    throw new LlmError({ code: 'SCRIPT_UNREADABLE', message }, { cause: thrown });
  }
}

function withCallIds(items: readonly WrittenItem[]): readonly ScriptItem[] {
  const taken = new Set(items.flatMap((item) => item.toolCalls ?? []).map((call) => call.id));
  let count = 0;
  const nextId = (): string => {
    do count += 1;
    while (taken.has(`call-${count}`));
    return `call-${count}`;
  };
  return items.map(({ toolCalls, ...item }) => {
    if (toolCalls === undefined) return item;
    return {
      ...item,
      toolCalls: toolCalls.map(({ id, name, arguments: args }) => ({
        id: id ?? nextId(),
        name,
        arguments: typeof args === 'string' ? args : JSON.stringify(args),
      })),
    };
  });
}

/** `item [2]: toolCalls[0].name must be string`, indexes from 0. */
function describe(error: ErrorObject | undefined): string {
  if (error === undefined || error.instancePath === '') return 'it must be a list of items';
  const [index = '', ...keys] = violationPath(error).split('.');
  const where = keys.join('.');
  const { additionalProperty: extra, allowedValues: allowed } = violationFacts(error);
  if (extra !== undefined) return `item [${index}]: unknown key "${where === '' ? extra : `${where}.${extra}`}"`;
  const what = `${where} ${error.message}${allowed === undefined ? '' : `: ${allowed.join(', ')}`}`;
  return `item [${index}]: ${what.trim()}`;
}

function invalid(path: string, why: string, cause?: unknown): LlmError {
  return new LlmError({ code: 'INVALID_SCRIPT', message: `the script ${path} is invalid: ${why}` }, { cause });
}
