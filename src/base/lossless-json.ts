import { CodedError } from './errors.js';

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** Deepest nesting: whoever walks it, `JSON.stringify` included, keeps well inside the stack. */
export const MAX_JSON_DEPTH = 512;

const MAX_PATH_CHARS = 200;

/**
 * A deeply frozen copy of a value that `JSON.parse(JSON.stringify(value))` gives back unchanged (core §2.1).
 *
 * Lone surrogates stay: `JSON.stringify` escapes them. A literal `__proto__` key is data.
 *
 * @param name what the value is called in the error
 * @throws CodedError `NOT_JSON` naming the first offending path, as in `data.message.content[0].text is NaN, …`
 */
export function freezeJson(value: unknown, name: string): Json {
  try {
    return copy(value, 0);
  } catch (thrown) {
    if (!(thrown instanceof Offence)) throw thrown;
    throw new CodedError('NOT_JSON', thrown.describe(name));
  }
}

function copy(value: unknown, depth: number): Json {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value) || Object.is(value, -0)) {
        throw new Offence(`is ${Object.is(value, -0) ? '-0' : value}, which JSON cannot carry`);
      }
      return value;
    case 'object':
      if (value === null) return null;
      if (depth === MAX_JSON_DEPTH) throw new Offence(`is nested deeper than ${MAX_JSON_DEPTH} levels, or cyclic`);
      return Array.isArray(value) ? copyArray(value, depth + 1) : copyObject(value, depth + 1);
    case 'undefined':
      throw new Offence('is undefined: leave the key out');
    default:
      throw new Offence(`is a ${typeof value}, which JSON cannot carry`);
  }
}

function copyObject(value: object, depth: number): Json {
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    throw new Offence(`is an instance of ${className(prototype)}, not a plain object`);
  }
  refuseSymbols(value);
  // Assigned key by key: freezing an object made by spread costs several times as much.
  const result: Record<string, Json> = {};
  for (const key of Object.getOwnPropertyNames(value)) {
    const own = copyProperty(value, key, depth);
    if (key === '__proto__') Object.defineProperty(result, key, { value: own, enumerable: true });
    else result[key] = own;
  }
  return Object.freeze(result);
}

function copyArray(value: readonly unknown[], depth: number): Json {
  if (Object.getPrototypeOf(value) !== Array.prototype) throw new Offence('is not a plain array');
  refuseSymbols(value);
  if (Object.getOwnPropertyNames(value).length > value.length + 1)
    throw new Offence('is an array with named properties');
  const result: Json[] = [];
  for (let index = 0; index < value.length; index += 1) result.push(copyProperty(value, index, depth));
  return Object.freeze(result);
}

function copyProperty(holder: object, key: string | number, depth: number): Json {
  try {
    const property = Object.getOwnPropertyDescriptor(holder, key);
    if (property === undefined) throw new Offence('is a hole');
    if (property.get !== undefined || property.set !== undefined) throw new Offence('is an accessor, not a value');
    if (!property.enumerable) throw new Offence('is not enumerable');
    return copy(property.value, depth);
  } catch (thrown) {
    if (thrown instanceof Offence) thrown.keys.push(key);
    throw thrown;
  }
}

function refuseSymbols(value: object): void {
  if (Object.getOwnPropertySymbols(value).length > 0) throw new Offence('has a symbol as key');
}

function className(prototype: object): string {
  const type: unknown = prototype.constructor;
  return typeof type === 'function' && type.name !== '' ? type.name : 'a class';
}

/** What is wrong, and the keys from there outwards, collected while unwinding: the good case pays for no path. */
class Offence {
  readonly keys: (string | number)[] = [];

  constructor(private readonly problem: string) {}

  describe(name: string): string {
    let path = name;
    for (const key of this.keys.reverse()) {
      if (path.length > MAX_PATH_CHARS) return `${path}… ${this.problem}`;
      path += typeof key === 'number' ? `[${key}]` : /^[\w$]+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
    }
    return `${path} ${this.problem}`;
  }
}
