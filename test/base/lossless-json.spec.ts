import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { anything, assert, jsonValue, property } from 'fast-check';
import { errorCode, freezeJson, MAX_JSON_DEPTH } from '../../src/base/index.js';
import { runs } from '../support/runs.js';

function roundTrips(value: unknown): boolean {
  try {
    return isDeepStrictEqual(JSON.parse(JSON.stringify(value)), value);
  } catch {
    return false;
  }
}

function accepts(value: unknown): boolean {
  try {
    freezeJson(value, 'data');
    return true;
  } catch (thrown) {
    if (errorCode(thrown) === 'NOT_JSON') return false;
    throw thrown;
  }
}

function assertFrozen(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  expect(Object.isFrozen(value)).to.equal(true);
  for (const child of Object.values(value)) assertFrozen(child);
}

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

describe('freezeJson', () => {
  it('gives a deeply frozen, detached, equal copy of any JSON value', () => {
    assert(
      property(jsonValue(), (value) => {
        const given = JSON.parse(JSON.stringify(value));
        const copy = freezeJson(given, 'data');
        expect(isDeepStrictEqual(copy, given)).to.equal(true);
        expect(JSON.stringify(copy)).to.equal(JSON.stringify(given));
        if (typeof given === 'object' && given !== null) expect(copy).to.not.equal(given);
        assertFrozen(copy);
      }),
    );
  });

  it('accepts exactly what JSON gives back unchanged', () => {
    const anyValue = anything({
      withBigInt: true,
      withBoxedValues: true,
      withDate: true,
      withMap: true,
      withObjectString: true,
      withSet: true,
      withSparseArray: true,
      withTypedArray: true,
    });
    assert(
      property(anyValue, (value) => {
        expect(accepts(value)).to.equal(roundTrips(value));
      }),
      runs(1000),
    );
  });

  const cyclic: Record<string, unknown> = {};
  cyclic.self = { again: cyclic };
  class Point {
    x = 1;
  }
  class List extends Array<number> {}
  const refused: readonly (readonly [string, unknown, RegExp])[] = [
    ['undefined', { a: { b: undefined } }, /data\.a\.b is undefined/],
    ['undefined in an array', { a: [1, undefined] }, /data\.a\[1\] is undefined/],
    ['NaN', { message: { content: [{ text: Number.NaN }] } }, /data\.message\.content\[0\]\.text is NaN/],
    ['Infinity', [Number.NEGATIVE_INFINITY], /data\[0\] is -Infinity/],
    ['negative zero', { a: -0 }, /data\.a is -0/],
    ['a BigInt', { a: 1n }, /data\.a is a bigint/],
    ['a function', { toJSON: () => 1 }, /data\.toJSON is a function/],
    ['a symbol', { a: Symbol('x') }, /data\.a is a symbol/],
    ['a Date', { at: new Date(0) }, /data\.at is an instance of Date/],
    ['a Map', new Map(), /data is an instance of Map/],
    ['a Buffer', { a: Buffer.from('x') }, /data\.a is an instance of Buffer/],
    ['a class instance', { a: new Point() }, /data\.a is an instance of Point/],
    ['an instance of a class without a name', { a: new (class {})() }, /data\.a is an instance of a class/],
    ['a subclass of Array', { a: List.from([1]) }, /data\.a is not a plain array/],
    ['a sparse array', { a: new Array(2) }, /data\.a\[0\] is a hole/],
    ['a decorated array', { a: Object.assign([1], { extra: 1 }) }, /data\.a is an array with named properties/],
    ['a sparse and decorated array', { a: Object.assign(new Array(1), { extra: 1 }) }, /data\.a/],
    ['a symbol key', { a: { [Symbol('x')]: 1 } }, /data\.a has a symbol as key/],
    ['a symbol key on an array', { a: Object.assign([1], { [Symbol('x')]: 1 }) }, /data\.a has a symbol as key/],
    ['a getter', Object.defineProperty({}, 'a', { get: () => 1, enumerable: true }), /data\.a is an accessor/],
    ['a setter', Object.defineProperty({}, 'a', { set: () => undefined, enumerable: true }), /data\.a is an accessor/],
    ['a hidden property', Object.defineProperty({}, 'a', { value: 1 }), /data\.a is not enumerable/],
    ['a cycle', cyclic, /^data\.self\.again\.self.{1,300}cyclic$/],
    ['a key that is no identifier', { 'a b': { '': undefined } }, /data\["a b"\]\[""\] is undefined/],
  ];
  for (const [name, value, message] of refused) {
    it(`refuses ${name} and names its path`, () => {
      expect(() => freezeJson(value, 'data'))
        .to.throw(message)
        .with.property('code', 'NOT_JSON');
    });
  }

  it('keeps a literal __proto__ key as data', () => {
    const copy = freezeJson(JSON.parse('{"__proto__":{"a":1},"b":{"__proto__":null}}'), 'data');
    expect(JSON.stringify(copy)).to.equal('{"__proto__":{"a":1},"b":{"__proto__":null}}');
    expect(Object.getPrototypeOf(copy)).to.equal(Object.prototype);
    assertFrozen(copy);
  });

  it('takes an object without prototype for a plain one', () => {
    expect(freezeJson(Object.assign(Object.create(null), { a: 1 }), 'data')).to.deep.equal({ a: 1 });
  });

  it('leaves lone surrogates, which JSON escapes (A8)', () => {
    const text = JSON.stringify(freezeJson({ text: 'a\ud83d' }, 'data'));
    expect(text).to.equal('{"text":"a\\ud83d"}');
  });

  it('accepts nesting up to its bound, and refuses what is deeper without overflowing', () => {
    expect(accepts(nested(MAX_JSON_DEPTH))).to.equal(true);
    expect(accepts(nested(MAX_JSON_DEPTH + 1))).to.equal(false);
    expect(accepts(nested(200_000))).to.equal(false);
  });
});
