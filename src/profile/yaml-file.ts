import { CodedError, readSmallFile, toError } from '../base/index.js';

/**
 * What a YAML file holds; undefined when there is no such file, null when there is nothing in it.
 *
 * @throws CodedError `INVALID_YAML` naming file, line and column; `UNREADABLE_FILE`
 */
export async function readYamlFile(file: string): Promise<unknown> {
  const text = textOf(file);
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

function textOf(file: string): string | undefined {
  try {
    return readSmallFile(file);
  } catch (thrown) {
    throw new CodedError('UNREADABLE_FILE', `${file} cannot be read: ${toError(thrown).message}`);
  }
}
