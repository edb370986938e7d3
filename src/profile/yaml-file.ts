import { readFile } from 'node:fs/promises';
import { CodedError, errorCode, toError } from '../base/index.js';

/**
 * What a YAML file holds; undefined when there is no such file, null when there is nothing in it.
 *
 * @throws CodedError `INVALID_YAML` naming file, line and column; `UNREADABLE_FILE`
 */
export async function readYamlFile(file: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (thrown) {
    if (errorCode(thrown) === 'ENOENT' || errorCode(thrown) === 'ENOTDIR') return undefined;
    throw new CodedError('UNREADABLE_FILE', `${file} cannot be read: ${toError(thrown).message}`);
  }
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
