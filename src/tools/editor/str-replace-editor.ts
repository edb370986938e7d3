import { realpath } from 'node:fs/promises';
import { inject, injectable } from 'inversify';
import type { Tool, ToolCallContext } from '../../tool/index.js';
import { create } from './create.js';
import { absolutePath, EDITOR_PARAMETERS, type EditorArgs } from './editor-args.js';
import { EditorConfig } from './editor-config.js';
import { insert } from './insert.js';
import { PathLock } from './path-lock.js';
import { strReplace } from './str-replace.js';
import { untilAborted } from './until-aborted.js';
import { view } from './view.js';

const DESCRIPTION = `Views, creates and edits text files in UTF-8, by absolute paths.

- \`view\` shows a file with numbered lines, or of a directory what is in it, two levels deep. \`view_range\` shows a part of a file.
- \`create\` makes a new file and the directories to it; it fails if the path exists.
- \`str_replace\` replaces \`old_str\`, which must stand in the file exactly once, whitespace included: take in as much context as that needs. Line numbers of a view are not part of the text.
- \`insert\` inserts \`new_str\` after line \`insert_line\`.
- A long view is cut after its beginning.`;

/**
 * The model's editor (runtime §3.6), without an observation policy (decision 37).
 *
 * One for the whole runtime: edits of one file come one after another, from whatever sessions.
 */
@injectable()
export class StrReplaceEditor implements Tool<EditorArgs> {
  readonly name = 'str_replace_editor';
  readonly description = DESCRIPTION;
  readonly parameters = EDITOR_PARAMETERS;
  readonly #locks = new PathLock();

  constructor(@inject(EditorConfig) private readonly config: EditorConfig) {}

  isConcurrencySafe(args: EditorArgs): boolean {
    return args.command === 'view';
  }

  execute(args: EditorArgs, call: ToolCallContext): Promise<string> {
    return untilAborted(call.signal, this.#execute(args, call));
  }

  async #execute(args: EditorArgs, { cwd, signal }: ToolCallContext): Promise<string> {
    const path = absolutePath(args.path, cwd);
    if (args.command === 'view') return view(path, args, this.config.maxOutputChars, signal);
    const edit = { create, str_replace: strReplace, insert }[args.command];
    const target = await realpath(path).catch(() => path);
    return this.#locks.run(target, () => edit(path, args, signal));
  }
}
