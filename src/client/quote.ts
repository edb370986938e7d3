import { headOf } from '../base/index.js';

const longestQuote = 1000;

/** A value from the wire as JSON for a message, cut to what a person reads. */
export function quote(value: unknown): string {
  return headOf(JSON.stringify(value) ?? 'undefined', longestQuote);
}
