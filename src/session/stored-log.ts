import { win32 } from 'node:path';
import { CodedError, freezeJson, isObject, toError } from '../base/index.js';
import type { SessionEvent } from '../protocol/index.js';
import { isPackedRow, unpackRow } from './chunk-packing.js';
import { isKnownEventType } from './event-types.js';
import type { EncodedEvent, SessionHeader } from './repository.js';
import { sealEvent } from './seal-event.js';

const FORMAT_VERSION = 0;
const ENVELOPE_KEYS: ReadonlySet<string> = new Set([
  'type',
  'seq',
  'time',
  'data',
  'surfaceOp',
  'sourceEventSeqs',
  'ignorable',
]);
const RETIRED_HEADER_KEYS = ['sandboxMode', 'approvalPolicy'] as const;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads line 1 of a log (core §4.2). The version is judged before anything else.
 *
 * @param where names the line in errors
 * @throws CodedError `SESSION_CORRUPT`, `SESSION_FORMAT_UNSUPPORTED`
 */
export function parseHeader(line: string, where: string): SessionHeader {
  const fields = guarded(where, () => parseObject(line));
  const { version } = fields;
  if (fields.type !== 'session') throw corrupt(where, 'the first line is not a session header');
  if (version !== FORMAT_VERSION) {
    const newer = typeof version === 'number' && version > FORMAT_VERSION;
    throw unsupported(
      where,
      `session format ${JSON.stringify(version)} is not supported${newer ? ': upgrade dsh to read it' : ''}`,
    );
  }
  const problem = headerProblem(fields);
  if (problem !== undefined) throw corrupt(where, problem);
  return guarded(where, () => freezeJson(fields, 'header') as unknown as SessionHeader);
}

/**
 * Reads a line of a log: an event (core §2.1), or a packed row of them (core §4.3).
 *
 * @param seq what the first event has to carry
 * @throws Error saying what is wrong with the line
 * @throws CodedError `SESSION_FORMAT_UNSUPPORTED` for a sound event of a type that this version does not know
 */
export function parseLine(line: string, seq: number): readonly SessionEvent[] {
  const fields = parseObject(line);
  const { type, ignorable } = fields;
  if (typeof type !== 'string') throw new Error('type must be a string');
  if (isPackedRow(type)) {
    requireSeq(fields.seq0, seq);
    return unpackRow(fields);
  }
  requireSeq(fields.seq, seq);
  const extra = Object.keys(fields).find((key) => !ENVELOPE_KEYS.has(key));
  if (extra !== undefined) throw new Error(`${JSON.stringify(extra)} is not a member of an event`);
  if (!isSafeInteger(fields.time)) throw new Error('time must be a safe integer');
  if (ignorable !== undefined && ignorable !== true) throw new Error('ignorable must be true or absent');
  if (ignorable === undefined && !isKnownEventType(type)) {
    const problem = `event type ${JSON.stringify(type)} is unknown: it may come from a newer version`;
    throw new CodedError('SESSION_FORMAT_UNSUPPORTED', problem);
  }
  const { time, data, surfaceOp, sourceEventSeqs } = fields;
  const draft = { type, seq, time, data, surfaceOp, sourceEventSeqs };
  return [sealEvent(ignorable === undefined ? draft : { ...draft, ignorable })];
}

function requireSeq(value: unknown, seq: number): void {
  if (value !== seq) throw new Error(`seq is ${JSON.stringify(value)}, expected ${seq}`);
}

/** A batch continues the log where it ends, without gaps: anything else would make it unreadable. */
export function requireContiguous(batch: readonly EncodedEvent[], nextSeq: number): void {
  batch.forEach(({ seq }, index) => {
    if (seq !== nextSeq + index) throw new Error(`event ${seq} cannot be stored where ${nextSeq + index} is next`);
  });
}

/** `SESSION_CORRUPT`: the log breaks its own format. `where` names the file, and the line if there is one. */
export function corrupt(where: string, problem: string): CodedError {
  return new CodedError('SESSION_CORRUPT', `${where}: ${problem}`);
}

/** `SESSION_FORMAT_UNSUPPORTED`: the log may be sound, but this version cannot read it. */
export function unsupported(where: string, problem: string): CodedError {
  return new CodedError('SESSION_FORMAT_UNSUPPORTED', `${where}: ${problem}`);
}

/** `SESSION_NOT_FOUND`, naming the id. */
export function sessionNotFound(id: string): CodedError {
  return new CodedError('SESSION_NOT_FOUND', `session ${JSON.stringify(id)} is not stored`);
}

function parseObject(line: string): Fields {
  const value: unknown = JSON.parse(line);
  if (!isObject(value)) throw new Error('the line is not a JSON object');
  return value;
}

function headerProblem(fields: Fields): string | undefined {
  const retired = RETIRED_HEADER_KEYS.find((key) => key in fields);
  if (retired !== undefined) return `${retired} is a retired header field`;
  const { id, createdAt, cwd, parentSession, seedLength, origin, delegationDepth, agentPreset } = fields;
  if (typeof id !== 'string' || id === '') return 'id must be a non-empty string';
  if (!isSafeInteger(createdAt)) return 'createdAt must be a safe integer';
  // Posix paths are absolute in its eyes, too: a log may have been written on another platform.
  if (cwd !== undefined && !(typeof cwd === 'string' && win32.isAbsolute(cwd))) return 'cwd must be an absolute path';
  if (parentSession !== undefined && typeof parentSession !== 'string') return 'parentSession must be a string';
  if (seedLength !== undefined && !isCount(seedLength)) return 'seedLength must be a count';
  if (origin !== undefined && origin !== 'subagent') return 'origin must be "subagent" or absent';
  if (!isCount(delegationDepth)) return 'delegationDepth must be a count';
  if (agentPreset !== undefined && typeof agentPreset !== 'string') return 'agentPreset must be a string';
  return undefined;
}

function isSafeInteger(value: unknown): value is number {
  return Number.isSafeInteger(value) && !Object.is(value, -0);
}

function isCount(value: unknown): value is number {
  return isSafeInteger(value) && value >= 0;
}

/** Runs `read`; what it throws becomes {@link corrupt}. */
export function guarded<T>(where: string, read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    throw corrupt(where, toError(thrown).message);
  }
}
