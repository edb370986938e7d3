import { readFile } from 'node:fs/promises';
import type { SessionEvent } from '../../src/protocol/index.js';
import { isPackedRow, unpackRow } from '../../src/session/chunk-packing.js';

/** What stands in a plain log file, packed or not, as it stands there; while it is written, the complete lines. */
export async function eventsIn(file: string): Promise<SessionEvent[]> {
  const text = await readFile(file, 'utf8');
  const [, ...lines] = text.slice(0, text.lastIndexOf('\n')).split('\n');
  return lines.flatMap((line) => {
    const fields = JSON.parse(line);
    return isPackedRow(fields.type) ? unpackRow(fields) : (fields as SessionEvent);
  });
}
