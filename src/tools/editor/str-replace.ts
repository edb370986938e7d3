import { replaceFile } from './atomic-write.js';
import { type EditorArgs, required } from './editor-args.js';
import { FileError } from './file-errors.js';
import { readTextFile } from './text-file.js';

/** As many places are named when there are several. */
const MAX_PLACES = 10;

/**
 * Replaces the one place where `old_str` stands, literally.
 *
 * @throws FileError `FS_EDIT_NOT_FOUND`, `FS_AMBIGUOUS_EDIT` with the lines, and those of files
 */
export async function strReplace(path: string, args: EditorArgs, signal: AbortSignal): Promise<string> {
  const oldText = required(args, 'old_str');
  const file = await readTextFile(path, signal);
  const { text } = file;
  const [place, ...others] = placesOf(text, oldText);
  if (place === undefined) throw FileError.editNotFound(path, lineEndHint(text, oldText));
  if (others.length > 0) throw FileError.ambiguousEdit(path, describePlaces(text, [place, ...others]));
  const edited = text.slice(0, place) + (args.new_str ?? '') + text.slice(place + oldText.length);
  await replaceFile(file, edited, signal);
  return `Replaced the text at line ${lineOf(text, place)} of ${path}.`;
}

/** Where it begins, overlapping places included; one more than can be named at most. */
function placesOf(text: string, part: string): readonly number[] {
  const places: number[] = [];
  for (let at = text.indexOf(part); at >= 0 && places.length <= MAX_PLACES; at = text.indexOf(part, at + 1)) {
    places.push(at);
  }
  return places;
}

function describePlaces(text: string, places: readonly number[]): string {
  const lines = [...new Set(places.slice(0, MAX_PLACES).map((place) => lineOf(text, place)))];
  const more = places.length > MAX_PLACES ? ' and more' : '';
  return lines.length === 1 && more === '' ? `all in line ${lines}` : `in lines ${lines.join(', ')}${more}`;
}

function lineOf(text: string, place: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < place; at = text.indexOf('\n', at + 1)) line++;
  return line;
}

/** A view does not show how lines end, so this is the one thing that the model cannot see. */
function lineEndHint(text: string, part: string): string {
  const differs = text.includes('\r\n') && part.includes('\n') && !part.includes('\r\n');
  return differs ? ', whose lines end with CRLF: write \\r\\n in old_str' : '; view the file and copy the text exactly';
}
