import { isUtf8 } from 'node:buffer';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import type { SessionEvent } from '../protocol/index.js';
import type { EventVisitor, LogReading, SessionHeader } from './repository.js';
import { corrupt, parseEvent, parseHeader } from './stored-log.js';

const NEWLINE = 0x0a;
const HEADER_READ_BYTES = 4096;

/**
 * Reads a log whole. What stands after its last newline was cut off while it was written, and is left out.
 *
 * @throws CodedError as {@link parseHeader} and {@link parseEvent} do, naming file and line
 */
export async function readSessionFile(path: string, id: string, visit: EventVisitor): Promise<LogReading> {
  const bytes = await readFile(path);
  const end = bytes.indexOf(NEWLINE);
  const header = checkHeader(end < 0 ? undefined : bytes.subarray(0, end), path, id);
  const events = readEvents(bytes, end + 1, path);
  for (const event of events) visit(event);
  return { header, eventCount: events.length, condition: { kind: 'sound' } };
}

/** Reads the header and nothing after it. */
export async function readSessionFileHeader(path: string, id: string): Promise<SessionHeader> {
  const file = await open(path, 'r');
  try {
    return checkHeader(await readFirstLine(file), path, id);
  } finally {
    await file.close();
  }
}

function checkHeader(line: Buffer | undefined, path: string, id: string): SessionHeader {
  const where = `${path}:1`;
  if (line === undefined) throw corrupt(where, 'the header line is missing or incomplete');
  const header = parseHeader(decode(line, where), where);
  if (header.id === id) return header;
  throw corrupt(where, `the header names session ${JSON.stringify(header.id)}, not ${JSON.stringify(id)}`);
}

function readEvents(bytes: Buffer, start: number, path: string): SessionEvent[] {
  const events: SessionEvent[] = [];
  for (let at = start, end = bytes.indexOf(NEWLINE, at); end >= 0; at = end + 1, end = bytes.indexOf(NEWLINE, at)) {
    const where = `${path}:${events.length + 2}`;
    events.push(parseEvent(decode(bytes.subarray(at, end), where), events.length, where));
  }
  return events;
}

async function readFirstLine(file: FileHandle): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(HEADER_READ_BYTES));
    if (bytesRead === 0) return undefined;
    const chunk = buffer.subarray(0, bytesRead);
    const end = chunk.indexOf(NEWLINE);
    chunks.push(end < 0 ? chunk : chunk.subarray(0, end));
    if (end >= 0) return Buffer.concat(chunks);
  }
}

function decode(line: Buffer, where: string): string {
  if (!isUtf8(line)) throw corrupt(where, 'the line is not UTF-8');
  return line.toString('utf8');
}
