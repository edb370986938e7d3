import type { LeaseHolder, SessionEntry } from '../../session/index.js';
import { sizeText, textTable, timeText } from '../text-table.js';
import { UsageError } from '../usage.js';
import { document, type ExitCode, type SessionsCall } from './call.js';

/** `dsh sessions list`: a session that cannot be read is listed with what is wrong. */
export async function list({ archive, ids, options, output: { stdout } }: SessionsCall): Promise<ExitCode> {
  if (ids.length > 0) throw new UsageError('dsh sessions list takes no SESSION');
  const entries = await archive.list();
  stdout.write(options.json ? entries.map((entry) => document(plainEntry(entry))).join('') : text(entries));
  return 0;
}

/** An entry as JSON says it: the header's members that tell sessions apart stand beside the file's. */
export function plainEntry({ header, ...entry }: SessionEntry): object {
  return {
    id: header?.id,
    cwd: header?.cwd,
    createdAt: header?.createdAt,
    parentSession: header?.parentSession,
    ...entry,
  };
}

/** Entries as people read them. */
export function text(entries: readonly SessionEntry[]): string {
  if (entries.length === 0) return 'no sessions\n';
  const rows = entries.map(({ header, modifiedAt, bytes, holder, problem }) => [
    header?.id ?? '?',
    timeText(modifiedAt),
    sizeText(bytes),
    header?.cwd ?? '-',
    problem === undefined ? (holder === undefined ? '' : holderText(holder)) : `damaged: ${problem}`,
  ]);
  return textTable(['SESSION', 'CHANGED', 'SIZE', 'WORKSPACE', 'STATE'], rows);
}

/** Who uses a session. */
export function holderText({ pid, host, startedAt }: LeaseHolder): string {
  return `in use by process ${pid} on ${host} since ${timeText(startedAt)}`;
}
