import { InvalidArgsError } from '../../tool/index.js';
import { replaceFile } from './atomic-write.js';
import { type EditorArgs, required } from './editor-args.js';
import { readTextFile } from './text-file.js';

/**
 * Inserts the lines of `new_str` after a line; the empty line after a final newline counts as one, as in a view.
 *
 * @throws FileError
 * @throws InvalidArgsError a line outside the file
 */
export async function insert(path: string, args: EditorArgs, signal: AbortSignal): Promise<string> {
  const at = required(args, 'insert_line');
  const added = required(args, 'new_str');
  const file = await readTextFile(path, signal);
  const lines = file.text.split('\n');
  if (at > lines.length) {
    throw new InvalidArgsError(`insert_line is ${at}, it must be between 0 and ${lines.length}, the number of lines`);
  }
  const edited = [...lines.slice(0, at), added, ...lines.slice(at)].join('\n');
  await replaceFile(file, edited, signal);
  return `Inserted the text after line ${at} of ${path}.`;
}
