/** The longest head of `text` with at most `maxChars` UTF-16 units that does not split a code point. */
export function headOf(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : text.slice(0, wholePoints(text, maxChars));
}

/** `text` in order, in pieces of at most `maxChars` (≥ 2) UTF-16 units, none of which splits a code point. */
export function* piecesOf(text: string, maxChars: number): Generator<string, void, undefined> {
  for (let at = 0; at < text.length; ) {
    const end = wholePoints(text, at + maxChars);
    yield text.slice(at, end);
    at = end;
  }
}

/** `end`, or one less where it would split a code point of `text`. */
function wholePoints(text: string, end: number): number {
  if (end >= text.length) return text.length;
  const last = text.charCodeAt(end - 1);
  return last >= 0xd800 && last <= 0xdbff ? end - 1 : end;
}
