import { headOf } from '../base/index.js';

/** Judges one value. @throws TypeError naming the option, what it must be, and what it is */
export type Check = (name: string, value: unknown) => void;

/** A check for each member of `T`. */
export type ChecksOf<T> = Readonly<Record<keyof T & string, Check>>;

const longestQuote = 100;

/** @param show says what was given, for the message */
export function must(expected: string, holds: (value: unknown) => boolean, show = quoted): Check {
  return (name, value) => {
    if (!holds(value)) throw new TypeError(`${name} must be ${expected}; got ${show(value)}`);
  };
}

/** Neither `null` nor an array. */
export const object = must('an object', (value) => typeof value === 'object' && kindOf(value) === 'an object', kindOf);
/** Any function; it is not called here. */
export const callback = must('a function', (value) => typeof value === 'function');
/** Any string, the empty one too. */
export const anyText = must('a string', (value) => typeof value === 'string');
/** A string with something in it besides whitespace. */
export const text = must('a non-blank string', (value) => typeof value === 'string' && value.trim() !== '');
/** A whole number from 1 to `Number.MAX_SAFE_INTEGER`. */
export const count = must('a positive safe integer', (value) => Number.isSafeInteger(value) && Number(value) > 0);
/** Bytes: a number above 0, `Infinity` included. */
export const size = must('a positive number of bytes', (value) => typeof value === 'number' && value > 0);
/** A duration from 0 on, `Infinity` included; no timer's limit applies yet, see `timerMs`. */
export const milliseconds = must(
  'a number of milliseconds, 0 or more',
  (value) => typeof value === 'number' && value >= 0,
);
/** Of any realm or library: what is used of it counts. */
export const abortSignal = must('an AbortSignal', (value) => {
  const { aborted, addEventListener } = (value ?? {}) as Partial<AbortSignal>;
  return typeof aborted === 'boolean' && typeof addEventListener === 'function';
});

/** @param what names the items: `strings` */
export function listOf(what: string, each: Check): Check {
  const list = must(`an array of ${what}`, Array.isArray);
  return (name, value) => {
    list(name, value);
    for (const [at, item] of (value as unknown[]).entries()) each(`${name}[${at}]`, item);
  };
}

/** Variables of a process. Their values may be secrets: messages tell no more than their kind. */
export const environment: Check = (name, value) => {
  const variable = must('a string or undefined', (held) => held === undefined || typeof held === 'string', kindOf);
  object(name, value);
  for (const [key, held] of Object.entries(value as object)) variable(`${name}.${key}`, held);
};

/** An object with these members and no others; those not `required` may be undefined. */
export function membersOf(checks: Readonly<Record<string, Check>>, required: readonly string[] = []): Check {
  return (name, value) => {
    object(name, value);
    const given = value as Readonly<Record<string, unknown>>;
    const stranger = Object.keys(given).find((key) => !Object.hasOwn(checks, key));
    if (stranger !== undefined) throw new TypeError(`${name}.${stranger} is unknown: there is no such option`);
    for (const [key, check] of Object.entries(checks)) {
      if (given[key] !== undefined || required.includes(key)) check(`${name}.${key}`, given[key]);
    }
  };
}

function quoted(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(headOf(value, longestQuote));
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : kindOf(value);
}

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
