import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { CodedError, readSmallFile, toError } from '../base/index.js';

/**
 * What a YAML file holds; undefined when there is no such file, null when there is nothing in it.
 *
 * @throws CodedError `INVALID_YAML` naming file, line and column; `UNREADABLE_FILE`
 */
export async function readYamlFile(file: string): Promise<unknown> {
  const text = await textOf(file);
  if (text === undefined) return undefined;
  const {
    default: { LineCounter, parseDocument },
  } = await import('yaml');
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false });
  const [error] = document.errors;
  if (error !== undefined) {
    const { line, col } = lineCounter.linePos(error.pos[0]);
    throw new CodedError('INVALID_YAML', `${file}:${line}:${col}: ${error.message}`);
  }
  try {
    return document.toJS() ?? null;
  } catch (thrown) {
    throw new CodedError('INVALID_YAML', `${file}: ${toError(thrown).message}`);
  }
}

/** A shell gives what `<(command)` prints as a pipe, which is waited for. */
async function textOf(file: string): Promise<string | undefined> {
  try {
    const isPipe = statSync(file, { throwIfNoEntry: false })?.isFIFO() === true;
    return isPipe ? await readFile(file, 'utf8') : readSmallFile(file);
  } catch (thrown) {
    throw new CodedError('UNREADABLE_FILE', `${file} cannot be read: ${toError(thrown).message}`);
  }
}
