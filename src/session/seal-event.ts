import { freezeJson, toError } from '../base/index.js';
import type { SessionEvent } from '../protocol/index.js';
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
  if (typeof data !== 'object' || data === null || Array.isArray(data)) throw invalidEvent('data must be an object');
  if (!isSurfaceEventType(type)) {
    refusePlacement(draft);
    return sealed(ignorable === undefined ? { type, seq, time, data } : { type, seq, time, data, ignorable });
  }
  requireMessage(type, data);
  const sourceEventSeqs = sealSources(draft.sourceEventSeqs, type, seq);
  return sealed({
    type,
    seq,
    time,
    data,
    surfaceOp: requireSurfaceOp(draft.surfaceOp, type),
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

function requireSurfaceOp(value: unknown, type: string): 'append' {
  if (value === 'append') return value;
  if (value === undefined) throw invalidEvent(`surfaceOp is mandatory on ${type}`);
  if ((value as { readonly op?: unknown } | null)?.op === 'replace') {
    throw invalidEvent('surfaceOp "replace" is not supported yet');
  }
  throw invalidEvent('surfaceOp must be "append"');
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
    if (
      typeof source !== 'number' ||
      !Number.isInteger(source) ||
      source < 0 ||
      source >= seq ||
      Object.is(source, -0)
    ) {
      throw invalidEvent(`sourceEventSeqs[${index}] must be the seq of an earlier event`);
    }
    if (source <= last && seen === undefined) seen = new Set(copy);
    if (seen?.has(source)) throw invalidEvent(`sourceEventSeqs[${index}] repeats ${source}`);
    seen?.add(source);
    last = source;
    copy.push(source);
  }
  return Object.freeze(copy);
}

/** What the fold relies on, for authors without types. */
function requireMessage(type: string, data: object): void {
  const isMessage = type === 'user/message';
  const message = isMessage ? data : (data as { readonly message?: unknown }).message;
  if (Array.isArray((message as { readonly content?: unknown } | null | undefined)?.content)) return;
  throw invalidEvent(`data${isMessage ? '' : '.message'}.content must be an array of content blocks`);
}
