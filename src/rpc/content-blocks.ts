import { ValidateBy } from 'class-validator';
import { freezeJson, toError } from '../base/index.js';
import type { ParamsViolation } from '../protocol/index.js';
import type { ViolationLocator } from './params-guard.js';

/** Most blocks of one prompt (decision 5). */
export const MAX_BLOCKS = 1_000;
/** Deepest nesting of one block, the block itself being level 1 (decision 5). */
export const MAX_BLOCK_DEPTH = 100;
const MODEL_ONLY = new Set(['tool-call', 'tool-result', 'reasoning']);

/**
 * What a client may put into a prompt (decision 5): 1–1,000 plain objects with a string `type`, at most 100 deep. Of
 * an image only `data` and `mimeType` count; what they hold is for the attachment store to judge.
 */
export function judgeContentBlocks(value: unknown, path: string): ParamsViolation[] {
  if (!Array.isArray(value)) return [violation(path, 'isArray', `${path} must be an array of content blocks`)];
  if (value.length < 1 || value.length > MAX_BLOCKS) {
    return [violation(path, 'arraySize', `${path} must hold 1 to ${MAX_BLOCKS} content blocks, not ${value.length}`)];
  }
  return value.flatMap((block, index) => judgeBlock(block, `${path}[${index}]`));
}

function judgeBlock(block: unknown, path: string): ParamsViolation[] {
  if (typeof block !== 'object' || block === null || Array.isArray(block)) {
    return [violation(path, 'isPlainObject', `${path} must be an object`)];
  }
  const { type, text, data, mimeType } = block as Readonly<Record<string, unknown>>;
  if (typeof type !== 'string') return [violation(`${path}.type`, 'isString', `${path}.type must be a string`)];
  if (type === 'text' && typeof text !== 'string') {
    return [violation(`${path}.text`, 'isString', `${path}.text must be a string`)];
  }
  if (MODEL_ONLY.has(type)) {
    return [violation(`${path}.type`, 'isPromptBlock', `${path}: a prompt must not carry a ${type} block`)];
  }
  if (type === 'image') {
    const members = Object.entries({ data, mimeType }).filter(([, value]) => typeof value !== 'string');
    return members.map(([member]) => {
      const message = `${path}.${member} must be a string: a prompt carries its images inline, as {type, data, mimeType}`;
      return violation(`${path}.${member}`, 'isString', message);
    });
  }
  if (isDeeperThan(block, MAX_BLOCK_DEPTH)) {
    return [violation(path, 'maxDepth', `${path} must not be nested deeper than ${MAX_BLOCK_DEPTH} levels`)];
  }
  return judgeNumbers(block, path);
}

/** JSON text can hold numbers that no event can: `1e400` and `-0`. */
function judgeNumbers(block: object, path: string): ParamsViolation[] {
  try {
    freezeJson(block, path);
    return [];
  } catch (thrown) {
    return [violation(path, 'isJson', toError(thrown).message)];
  }
}

/** Breadth first, so that depth costs no stack. */
function isDeeperThan(value: object, limit: number): boolean {
  let level: object[] = [value];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > limit) return true;
    level = level.flatMap((parent) => Object.values(parent).filter((child) => typeof child === 'object' && child));
  }
  return false;
}

function violation(path: string, constraint: string, message: string): ParamsViolation {
  return { path, constraint, message };
}

const locator: ViolationLocator = { locate: judgeContentBlocks };

/** Holds where {@link judgeContentBlocks} finds nothing; the params guard reports what it finds, path by path. */
export function IsContentBlocks(): PropertyDecorator {
  return ValidateBy(
    {
      name: 'isContentBlocks',
      validator: {
        validate: (value) => judgeContentBlocks(value, '').length === 0,
        defaultMessage: () => '$property must be an array of content blocks',
      },
    },
    { context: locator },
  );
}
