/**
 * An error that a program can tell apart by `code`. Subclasses spell out their `name`: it is logged, and a bundler may
 * rename the class.
 */
export class CodedError extends Error {
  override readonly name: string = 'CodedError';
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Whatever was thrown, as an Error; a non-Error becomes its string. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** The reason of an aborted signal; a reason that is no Error becomes one, `<what> aborted: <reason>`. */
export function abortError({ reason }: AbortSignal, what?: string): Error {
  if (reason instanceof Error) return reason;
  return new Error(`${what === undefined ? '' : `${what} `}aborted: ${String(reason)}`);
}

/** The messages of an error and its causes, outermost first, joined by `: `; one that the last ends with is left out. */
export function describeError(thrown: unknown): string {
  const messages: string[] = [];
  const seen = new Set<unknown>();
  for (let at: unknown = thrown; at !== undefined && !seen.has(at); ) {
    seen.add(at);
    const message = at instanceof Error ? at.message : String(at);
    if (message !== '' && messages.at(-1)?.endsWith(message) !== true) messages.push(message);
    at = at instanceof Error ? at.cause : undefined;
  }
  return messages.join(': ');
}

/** The `code` of a coded error (ours, Node's, or another copy's), else undefined. */
export function errorCode(thrown: unknown): string | undefined {
  const code = (thrown as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}
