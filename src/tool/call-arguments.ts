import { toError } from '../base/index.js';
import type { JsonObject, JsonValue } from '../protocol/index.js';
import { argumentRules } from './argument-rules.js';
import { InvalidArgsError } from './errors.js';
import type { Tool } from './tool.js';

/**
 * The arguments of a call as its body gets them: parsed, valid by the tool's schema, deeply frozen. Empty text is `{}`.
 *
 * @throws InvalidArgsError saying where and what
 * @throws InvalidToolError the schema cannot be compiled
 */
export async function readArguments(tool: Tool, text: string): Promise<JsonObject> {
  const value = parseArguments(tool, text);
  const violations = (await argumentRules(tool))(value);
  if (violations.length > 0) throw refuse(tool, violations.join('; '));
  deepFreeze(value);
  return value;
}

/**
 * The arguments of a call as the model wrote them, before they are judged. Empty text is `{}`.
 *
 * @throws InvalidArgsError they are no JSON object
 */
export function parseArguments(tool: Tool, text: string): JsonObject {
  if (text.trim() === '') return {};
  let value: JsonValue;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    throw refuse(tool, `they are no valid JSON: ${toError(thrown).message}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw refuse(tool, 'they must be a JSON object');
  }
  return value as JsonObject;
}

function refuse(tool: Tool, reason: string): InvalidArgsError {
  return new InvalidArgsError(`invalid arguments for tool "${tool.name}": ${reason}`);
}

/** With a stack of its own: the model decides how deep its arguments nest. */
function deepFreeze(root: object): void {
  const open: object[] = [root];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    Object.freeze(value);
    for (const member of Object.values(value)) if (typeof member === 'object' && member !== null) open.push(member);
  }
}
