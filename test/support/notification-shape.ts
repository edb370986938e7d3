import { type HarnessNotification, isEvent, type SessionEvent } from '../../src/protocol/index.js';

/**
 * What two recordings of the same scenario have in common, a row each: session, type, envelope keys, placement, turn and
 * step, block structure, reasons. Ids, times, seqs and texts are left out, and a run of equal deltas is one row.
 */
export function notificationShape(notifications: readonly HarnessNotification[]): string[] {
  const sessions = new Map<string, string>();
  const nameOf = (id: string): string => {
    const name = sessions.get(id) ?? `S${sessions.size}`;
    sessions.set(id, name);
    return name;
  };
  const rows: string[] = [];
  for (const notification of notifications) {
    const row = shapeOf(notification, nameOf);
    const isRepeatedDelta = row.includes('-delta ') && rows.at(-1) === row;
    if (!isRepeatedDelta) rows.push(row);
  }
  return rows;
}

function shapeOf(notification: HarnessNotification, nameOf: (id: string) => string): string {
  const { method, params } = notification;
  if (method === 'session.status') return `${nameOf(params.sessionId)} status ${params.status}`;
  if (method !== 'session.event') return `${method} ${keysOf(params)}`;
  const { event } = params;
  const placement = event.surfaceOp === undefined ? '' : ` ${JSON.stringify(event.surfaceOp)}`;
  const { turn, step } = event.data as { turn?: number; step?: number };
  const position = turn === undefined ? '' : ` ${turn}${step === undefined ? '' : `/${step}`}`;
  return `${nameOf(params.sessionId)} ${event.type} {${keysOf(event)}}${placement}${position}${detailOf(event)}`;
}

function detailOf(event: SessionEvent): string {
  if (isEvent(event, 'assistant/chunk')) return chunkDetail(event.data.chunk);
  if (isEvent(event, 'assistant/message')) {
    const { message, usage } = event.data;
    return ` ${blocksOf(message.content)} source:${keysOf(message.source)} usage:${usage === undefined ? 'no' : 'yes'}`;
  }
  if (isEvent(event, 'tool/result')) {
    const { content } = event.data.message;
    return ` ${blocksOf(content)} error:${content[0].isError ?? false}`;
  }
  if (isEvent(event, 'turn/end')) return ` ${event.data.reason.kind}`;
  if (isEvent(event, 'request/header')) return ` ${event.data.reason}`;
  if (isEvent(event, 'request/context')) return '';
  if (isEvent(event, 'agent/inbox/spliced')) {
    const { target, inserted, removedCount = 0 } = event.data;
    return ` ${target} +${inserted.length} -${removedCount}`;
  }
  return ` data:${keysOf(event.data)}`;
}

function chunkDetail(chunk: { readonly type: string; readonly index?: number }): string {
  const { blockType, block, reason } = chunk as {
    blockType?: string;
    block?: { type: string };
    reason?: { kind: string };
  };
  return ` ${[chunk.type, chunk.index ?? '', blockType ?? block?.type ?? reason?.kind ?? ''].join(' ')}`;
}

const keysOf = (value: object): string => Object.keys(value).sort().join(',');
const blocksOf = (content: readonly { readonly type: string }[]): string => content.map(({ type }) => type).join('+');
