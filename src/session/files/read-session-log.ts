import { CodedError } from '../../base/index.js';
import type { EventVisitor, LogReading } from '../repository.js';
import { currentFile, readSessionFile } from './session-file-reader.js';
import { SessionPlace } from './session-place.js';

/**
 * Reads the log in a file anywhere, in whatever form, without a lease. A log that ends in a defect gives its good events.
 *
 * @throws CodedError `SESSION_NOT_FOUND`, `SESSION_CORRUPT` no usable header, `SESSION_FORMAT_UNSUPPORTED`, `STORE_FAILED`
 */
export async function readSessionLog(path: string, visit: EventVisitor): Promise<LogReading> {
  const file = await currentFile(SessionPlace.ofFile(path));
  if (file === undefined) throw new CodedError('SESSION_NOT_FOUND', `there is no session log ${path}`);
  return readSessionFile(file, { visit });
}
