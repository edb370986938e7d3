import { freezeJson, isObject, toError } from '../base/index.js';
import type { SessionEvent, SurfaceOp } from '../protocol/index.js';
import { invalidEvent } from './errors.js';
import { isKnownEventType, isSurfaceEventType } from './event-types.js';

/** The members of an event before anything is known of them. */
export interface EventDraft {
  readonly type: string;
  readonly seq: number;
  readonly time: number;
  readonly data: unknown;
  readonly surfaceOp?: unknown;
  readonly sourceEventSeqs?: unknown;
  readonly ignorable?: true;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Judges an event by the rules of the envelope and gives the frozen copy that everybody shares (core §2.1). Whether a
 * surface operation fits the current surface is the fold's to say.
 *
 * @throws CodedError `INVALID_EVENT` naming the offending path
 */
export function sealEvent(draft: EventDraft): SessionEvent {
  const { type, seq, time, ignorable } = draft;
  if (!isKnownEventType(type) && ignorable === undefined) {
    throw invalidEvent(`type ${JSON.stringify(type)} is unknown`);
  }
  const data = frozen(draft.data);
  if (!isObject(data)) throw invalidEvent('data must be an object');
  if (!isSurfaceEventType(type)) {
    refusePlacement(draft);
    return sealed(ignorable === undefined ? { type, seq, time, data } : { type, seq, time, data, ignorable });
  }
  requireMessage(type, data);
  const surfaceOp = sealSurfaceOp(draft.surfaceOp, type, seq);
  const sourceEventSeqs = sealSources(draft.sourceEventSeqs, type, seq);
  return sealed({
    type,
    seq,
    time,
    data,
    surfaceOp,
    ...(sourceEventSeqs !== undefined && { sourceEventSeqs }),
    ...(ignorable !== undefined && { ignorable }),
  });
}

function frozen(data: unknown): unknown {
  try {
    return freezeJson(data, 'data');
  } catch (thrown) {
    throw invalidEvent(toError(thrown).message);
  }
}

function sealed(event: object): SessionEvent {
  return Object.freeze(event) as SessionEvent;
}

function refusePlacement(draft: EventDraft): void {
  for (const key of ['surfaceOp', 'sourceEventSeqs'] as const) {
    if (draft[key] !== undefined) throw invalidEvent(`${key} is not allowed on ${draft.type}`);
  }
}

function sealSurfaceOp(value: unknown, type: string, seq: number): SurfaceOp {
  if (value === 'append') return value;
  if (value === undefined) throw invalidEvent(`surfaceOp is mandatory on ${type}`);
  if (!isObject(value) || value.op !== 'replace' || Object.keys(value).length !== 3) {
    throw invalidEvent('surfaceOp must be "append" or {"op":"replace","start":seq,"end":seq}');
  }
  const { start, end } = value;
  if (!isEarlier(start, seq)) throw invalidEvent('surfaceOp.start must be the seq of an earlier event');
  if (!isEarlier(end, seq)) throw invalidEvent('surfaceOp.end must be the seq of an earlier event');
  return Object.freeze({ op: 'replace', start, end });
}

function sealSources(value: unknown, type: string, seq: number): readonly number[] | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) throw invalidEvent('sourceEventSeqs must be an array');
  if (value.length === 0 && type !== 'assistant/message') {
    throw invalidEvent(`sourceEventSeqs must not be empty on ${type}`);
  }
  // The usual list ascends, and then needs no set to be known as unique.
  let seen: Set<number> | undefined;
  let last = -1;
  const copy: number[] = [];
  for (let index = 0; index < value.length; index += 1) {
    const source: unknown = value[index];
    if (!isEarlier(source, seq)) throw invalidEvent(`sourceEventSeqs[${index}] must be the seq of an earlier event`);
    if (source <= last && seen === undefined) seen = new Set(copy);
    if (seen?.has(source)) throw invalidEvent(`sourceEventSeqs[${index}] repeats ${source}`);
    seen?.add(source);
    last = source;
    copy.push(source);
  }
  return Object.freeze(copy);
}

function isEarlier(value: unknown, seq: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < seq && !Object.is(value, -0);
}

/** What the fold relies on, for authors without types, and logs that others wrote. */
function requireMessage(type: string, data: Fields): void {
  const isMessage = type === 'user/message';
  const message = isMessage ? data : data.message;
  const content = isObject(message) ? message.content : undefined;
  if (!Array.isArray(content) || !content.every(isBlock)) {
    throw invalidEvent(`data${isMessage ? '' : '.message'}.content must be an array of content blocks`);
  }
  if (type === 'tool/result') requireResult(message as Fields, content);
}

function isBlock(value: unknown): value is Fields {
  return isObject(value) && typeof value.type === 'string';
}

/** Core §2.4. */
function requireResult({ source }: Fields, [block, second]: readonly Fields[]): void {
  if (block?.type !== 'tool-result' || second !== undefined || !Array.isArray(block.content)) {
    throw invalidEvent('data.message.content must be one tool-result block');
  }
  if (typeof block.toolCallId === 'string' && isObject(source) && source.callId === block.toolCallId) return;
  throw invalidEvent('data.message.source.callId must be the toolCallId of the result');
}
