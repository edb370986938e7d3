import type { LlmFailure } from '../protocol/index.js';

/** What a provider's error body says of itself. */
export interface ProviderError {
  readonly code?: string;
  readonly type?: string;
  readonly message?: string;
}

/** The failure code of an HTTP error status (core §5.6, decision 28); the wording decides where the status is too broad. */
export function codeOfHttpStatus(status: number, error: ProviderError = {}): string {
  if (status === 401 || status === 403) return 'AUTH';
  if (status === 413) return 'INVALID_REQUEST';
  const words = wordsOf(error);
  if (QUOTA.test(words)) return 'QUOTA';
  if (status === 429) return 'RATE_LIMIT';
  if (status === 400) return CONTEXT_CAPACITY.test(words) ? 'CONTEXT_WINDOW_EXCEEDED' : 'INVALID_REQUEST';
  if (status >= 500) return 'SERVER';
  if (status === 402) return 'PAYMENT_REQUIRED';
  if (status === 422) return 'UNPROCESSABLE';
  return `HTTP_${status}`;
}

/**
 * The facts of an error that a provider reports under status 200, in a stream or in place of one. `status` is the one
 * that the error names or its words stand for; without any, the code is that of the status `otherwise`.
 */
export function factsOfReportedError(error: ProviderError, otherwise: number): Pick<LlmFailure, 'code' | 'status'> {
  const named = Number(error.code);
  const words = wordsOf(error);
  const status = named >= 400 && named < 600 ? named : WORDED_STATUSES.find(([pattern]) => pattern.test(words))?.[1];
  return { code: codeOfHttpStatus(status ?? otherwise, error), ...(status !== undefined && { status }) };
}

/** One searchable line a field: `insufficient_quota` reads as `insufficient quota`. */
function wordsOf(error: ProviderError): string {
  return [error.code, error.type, error.message].join('\n').toLowerCase().replace(/[_-]/g, ' ');
}

const VERB = '(?: (?:is|are|was|were|has|have|been))*';
const QUOTA = new RegExp(
  [
    'insufficient (?:quota|balance|credits?)',
    `(?:quota|usage limit)${VERB} (?:exceeded|exhausted|reached)`,
    'exceeded (?:(?:your|the) )?(?:current )?quota',
    `(?:balance|credits?)${VERB} (?:exhausted|depleted)`,
    'out of (?:credits?|budget)',
  ].join('|'),
);
const CONTEXT_CAPACITY = new RegExp(
  [
    'context (?:length|window) exceeded',
    'maximum context (?:length|window)',
    '(?:input|prompt|request)\\b.{0,40}\\btoo (?:large|long) for (?:the |this )?(?:context|model)',
    "exceeds? (?:the )?(?:model(?:'s)? )?(?:maximum )?context",
  ].join('|'),
);
const WORDED_STATUSES: readonly (readonly [pattern: RegExp, status: number])[] = [
  [/rate limit|too many requests/, 429],
  [/overload|over capacity|service (?:is )?(?:temporarily )?unavailable|(?:server|internal) error/, 503],
  [/authentication (?:error|fail)|(?:invalid|incorrect) api key|unauthori[sz]ed/, 401],
];
