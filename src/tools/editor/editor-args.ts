import { isAbsolute, resolve } from 'node:path';
import type { JsonObject } from '../../protocol/index.js';
import { InvalidArgsError } from '../../tool/index.js';

/** Arguments as the schema admits them; what a command needs of them is judged by {@link required}. */
export type EditorArgs = {
  readonly command: 'view' | 'create' | 'str_replace' | 'insert';
  readonly path: string;
  readonly file_text?: string;
  readonly old_str?: string;
  readonly new_str?: string;
  readonly insert_line?: number;
  readonly view_range?: readonly [number, number];
};

/** JSON Schema of {@link EditorArgs} (runtime §3.6); its descriptions are what the model reads. */
export const EDITOR_PARAMETERS: JsonObject = {
  type: 'object',
  properties: {
    command: { type: 'string', enum: ['view', 'create', 'str_replace', 'insert'], description: 'What to do.' },
    path: {
      type: 'string',
      minLength: 1,
      description: 'Absolute path of the file, or for `view` also of a directory.',
    },
    file_text: { type: 'string', description: 'For `create`: the whole text of the new file; may be empty.' },
    old_str: {
      type: 'string',
      minLength: 1,
      description: 'For `str_replace`: the text to replace, exactly as it stands in the file, and only once there.',
    },
    new_str: {
      type: 'string',
      description: 'For `str_replace`: what comes in its place, nothing if left out. For `insert`: the text to insert.',
    },
    insert_line: {
      type: 'integer',
      minimum: 0,
      description: 'For `insert`: the number of the line after which to insert; 0 inserts before the first.',
    },
    view_range: {
      type: 'array',
      items: { type: 'integer' },
      minItems: 2,
      maxItems: 2,
      description: 'For `view` of a file: first and last line to show, from 1 on; a last line of -1 is the end.',
    },
  },
  required: ['command', 'path'],
};

/** @throws InvalidArgsError when the command was called without it */
export function required<K extends keyof EditorArgs>(args: EditorArgs, name: K): NonNullable<EditorArgs[K]> {
  const value = args[name];
  if (value === undefined) throw new InvalidArgsError(`${args.command} needs ${name}`);
  return value as NonNullable<EditorArgs[K]>;
}

/** @throws InvalidArgsError for a relative path, with what was probably meant */
export function absolutePath(path: string, cwd: string): string {
  if (path.includes('\0')) throw new InvalidArgsError('path must not contain a NUL character');
  if (isAbsolute(path)) return resolve(path);
  throw new InvalidArgsError(`path must be absolute, ${path} is relative: did you mean ${resolve(cwd, path)}?`);
}
