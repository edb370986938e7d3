import { unlink } from 'node:fs/promises';
import type { LogForm } from './log-compression.js';
import { LogFileWriter } from './log-file-writer.js';
import { type LogExtent, rewriteLog } from './rewrite-log.js';
import { fileFacts, type SessionPlace, type StoredLogFile } from './session-place.js';

/**
 * Rewrites a stored log in another form, or packed in its own, when that makes it smaller or changes the form. The
 * caller holds the lease. A crash at any point leaves one whole log, or two of the same content.
 *
 * @param signal gives up when it is aborted, and throws its reason; the log is left as it is
 * @param assertHeld asked when the new file is ready to take the place of the old one; its throw leaves that alone
 * @returns the file that is the log now, and its size
 */
export async function compactSessionFile(
  place: SessionPlace,
  source: StoredLogFile,
  form: LogForm,
  extent: LogExtent,
  assertHeld: () => void,
  signal?: AbortSignal,
): Promise<{ readonly file: StoredLogFile; readonly bytes: number }> {
  const target = place.fileOf(form);
  const before = (await fileFacts(source.path))?.bytes ?? 0;
  const writer = await LogFileWriter.open(target);
  try {
    await rewriteLog(source, extent, writer, { signal });
    const bytes = await writer.finish();
    if (form === source.form && bytes >= before) return { file: source, bytes: before };
    assertHeld();
    await writer.commit('replacement');
    if (target.path !== source.path) await unlink(source.path);
    return { file: target, bytes };
  } finally {
    await writer.discard();
  }
}
