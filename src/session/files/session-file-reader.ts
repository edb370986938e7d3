import type { EventVisitor, SessionHeader } from '../repository.js';
import { SessionFold } from '../session-fold.js';
import { corrupt } from '../stored-log.js';
import { BrokenBytesError, logBytes } from './log-bytes.js';
import { LogParser, noHeader, readHeaderLine, type TextReading } from './log-parser.js';
import type { SessionPlace, StoredLogFile } from './session-place.js';

const HEADER_SLICE_BYTES = 4_096;

/** How a log is read. */
export interface ReadOptions {
  /** What the header has to name. Default: whatever it names. */
  readonly id?: string | undefined;
  /** See {@link LogParser}. Default: false. */
  readonly prefixOnly?: boolean;
  /** Default: nobody hears the events. */
  readonly visit?: EventVisitor;
  /** Awaited after each slice: where what was heard can be passed on. */
  readonly pause?: () => Promise<void>;
}

/**
 * Reads a log whole, in slices: memory is bounded by the longest line, and the event loop runs between them.
 *
 * @throws CodedError `SESSION_CORRUPT`, `SESSION_FORMAT_UNSUPPORTED` naming file and line; `STORE_FAILED`
 */
export async function readSessionFile(
  { path, form }: StoredLogFile,
  { id, prefixOnly, visit = () => undefined, pause }: ReadOptions = {},
): Promise<TextReading> {
  const parser = new LogParser(path, id, visit, prefixOnly);
  try {
    for await (const text of logBytes(path, form)) {
      const goesOn = parser.push(text);
      await pause?.();
      if (!goesOn) break;
    }
  } catch (thrown) {
    if (thrown instanceof BrokenBytesError) return parser.end(thrown);
    throw thrown;
  }
  return parser.end();
}

/** Reads the header and hardly more. Throws as {@link readSessionFile} does. */
export async function readSessionFileHeader({ path, form }: StoredLogFile, id?: string): Promise<SessionHeader> {
  const where = `${path}:1`;
  const pieces: Buffer[] = [];
  try {
    for await (const text of logBytes(path, form, HEADER_SLICE_BYTES)) {
      const end = text.indexOf('\n');
      pieces.push(Buffer.from(end < 0 ? text : text.subarray(0, end)));
      if (end >= 0) return readHeaderLine(Buffer.concat(pieces), where, id);
    }
  } catch (thrown) {
    throw thrown instanceof BrokenBytesError ? corrupt(where, thrown.message) : thrown;
  }
  throw noHeader(where);
}

/** {@link readSessionFile} as a session does it: an event that breaks the rules of core §2 is a defect. */
export async function foldFile(
  file: StoredLogFile,
  id?: string,
  prefixOnly = false,
): Promise<{ readonly fold: SessionFold; readonly reading: TextReading }> {
  const { seedLength } = await readSessionFileHeader(file, id);
  const fold = new SessionFold(seedLength);
  return { fold, reading: await readSessionFile(file, { id, prefixOnly, visit: (event) => fold.read(event) }) };
}

/**
 * The file that is the log. A crash may have left two: the plain one is it when it is complete, for then the
 * compressed one was made of it or it of that one (decision 38).
 *
 * @returns undefined when nothing is stored there
 */
export async function currentFile(place: SessionPlace): Promise<StoredLogFile | undefined> {
  const [first, second] = await place.storedFiles();
  if (first === undefined || second === undefined || first.form !== 'none') return first;
  return (await isSound(first)) ? first : second;
}

async function isSound(file: StoredLogFile): Promise<boolean> {
  try {
    return (await readSessionFile(file)).condition.kind === 'sound';
  } catch {
    return false;
  }
}
