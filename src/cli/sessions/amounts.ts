import { UsageError } from '../usage.js';

const DURATION_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const SIZE_BYTES = { '': 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3, T: 1024 ** 4 };

/** Milliseconds of `90s`, `15m`, `12h`, `30d`. @throws UsageError naming the option */
export function parseDuration(option: string, text: string): number {
  return amount(text, DURATION_MS) ?? refuse(option, text, 'a number of seconds, minutes, hours or days, as 30d');
}

/** Bytes of `1000`, `10K`, `500M`, `1G`, `2T`, in powers of 1,024. @throws UsageError naming the option */
export function parseSize(option: string, text: string): number {
  return amount(text.toUpperCase(), SIZE_BYTES) ?? refuse(option, text, 'a size in bytes, or in K, M, G or T, as 1G');
}

/** @throws UsageError naming the option */
export function parseCount(option: string, text: string, least = 0): number {
  const count = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(count) && count >= least) return count;
  return refuse(option, text, least === 0 ? 'a count' : `a count from ${least}`);
}

function amount(text: string, units: Readonly<Record<string, number>>): number | undefined {
  const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?)([A-Za-z]?)$/.exec(text) ?? [];
  const factor = Object.hasOwn(units, unit) ? units[unit] : undefined;
  if (number === '' || factor === undefined) return undefined;
  const value = Math.round(Number(number) * factor);
  return Number.isSafeInteger(value) ? value : undefined;
}

function refuse(option: string, text: string, what: string): never {
  throw new UsageError(`${option} must be ${what}, not ${JSON.stringify(text)}`);
}
