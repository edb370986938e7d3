/** The longest delay that a Node timer keeps, in milliseconds; a longer one fires at once. */
export const MAX_TIMER_MS = 0x7fff_ffff;

/** An object that is no array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
