import { stripVTControlCharacters } from 'node:util';
import { headOf } from '../base/index.js';

/** Enough for any title; a prompt may be megabytes. */
const LOOKED_AT_CHARS = 4096;
const WHITESPACE = /[\s\u0085]+/g;
const CONTROLS = /\p{Cc}/gu;
/** Marks that turn the direction of text around: a title must not rearrange the line that shows it. */
const BIDI = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * A one-line title from the beginning of a text (core §4.8): its first words without terminal escapes, control and
 * bidi characters, cut at a code point.
 *
 * @param maxBytes of UTF-8
 * @returns undefined when nothing is left
 */
export function fallbackTitle(text: string, maxWords: number, maxBytes: number): string | undefined {
  const visible = stripVTControlCharacters(headOf(text.trimStart(), LOOKED_AT_CHARS))
    .toWellFormed()
    .replace(WHITESPACE, ' ')
    .replace(CONTROLS, '')
    .replace(BIDI, '');
  const words = visible.split(' ').filter((word) => word !== '');
  const title = headOfBytes(words.slice(0, maxWords).join(' '), maxBytes).trimEnd();
  return title === '' ? undefined : title;
}

function headOfBytes(text: string, maxBytes: number): string {
  let head = '';
  let bytes = 0;
  for (const codePoint of text) {
    bytes += Buffer.byteLength(codePoint);
    if (bytes > maxBytes) break;
    head += codePoint;
  }
  return head;
}
