/**
 * Why a value would not survive a round trip through JSON unchanged, with the path where; undefined when it would.
 * Members that are `undefined`, instances of classes, `-0`, holes and cycles do not.
 */
export function notJson(value: unknown): string | undefined {
  try {
    return inspect(value, '', new Set());
  } catch (thrown) {
    if (thrown instanceof RangeError) return 'it is nested too deeply';
    throw thrown;
  }
}

function inspect(value: unknown, path: string, parents: Set<object>): string | undefined {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return undefined;
  if (typeof value === 'number') {
    return Number.isFinite(value) && !Object.is(value, -0)
      ? undefined
      : at(path, Object.is(value, -0) ? '-0' : `${value}`);
  }
  if (typeof value !== 'object') return at(path, value === undefined ? 'undefined' : `a ${typeof value}`);
  if (parents.has(value)) return at(path, 'a cycle');
  parents.add(value);
  const reason = Array.isArray(value) ? inspectArray(value, path, parents) : inspectObject(value, path, parents);
  parents.delete(value);
  return reason;
}

function inspectArray(array: readonly unknown[], path: string, parents: Set<object>): string | undefined {
  if (Object.keys(array).length !== array.length) return at(path, 'an array with holes or extra members');
  return first(
    array.map((element, index) => [`${path}[${index}]`, element] as const),
    parents,
  );
}

function inspectObject(object: object, path: string, parents: Set<object>): string | undefined {
  const prototype = Object.getPrototypeOf(object);
  if (prototype !== Object.prototype && prototype !== null) {
    return at(path, `an instance of ${object.constructor?.name ?? 'a class'}`);
  }
  if (Object.getOwnPropertySymbols(object).length > 0) return at(path, 'an object with symbol keys');
  return first(
    Object.entries(object).map(([key, member]) => [path === '' ? key : `${path}.${key}`, member] as const),
    parents,
  );
}

function first(members: readonly (readonly [string, unknown])[], parents: Set<object>): string | undefined {
  for (const [path, member] of members) {
    const reason = inspect(member, path, parents);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

function at(path: string, what: string): string {
  return path === '' ? `it is ${what}` : `${path} is ${what}`;
}
