import type { SessionEvent } from '../protocol/index.js';
import { type EventDraft, sealEvent } from './seal-event.js';
import type { SessionFold } from './session-fold.js';
import type { PendingCall } from './turn-tracker.js';

const OUTCOME_UNKNOWN =
  'Error: the runtime stopped while this tool call was under way. Whether it took effect, in whole or in part, is ' +
  'unknown. Look at what it may have changed first, and repeat it only if that is safe.';
const NOT_STARTED =
  'Error: the runtime stopped before this tool call was started. It had no effect and may be made again.';

type Draft = Omit<EventDraft, 'seq' | 'time' | 'ignorable'>;

/** What a log ends with, as its fold has it. */
export type LogEnd = Pick<SessionFold, 'nextSeq' | 'lastTime' | 'openTurn'>;

/**
 * The events that close what a crash left open, to be appended in this order (core §3.9): a result for each tool call
 * of the open step that has none, the step's end, the turn's end. They carry the time of the last event. Empty when no
 * turn is open.
 */
export function closersFor({ nextSeq, lastTime, openTurn }: LogEnd): readonly SessionEvent[] {
  if (openTurn === undefined) return [];
  const { turn, step, calls } = openTurn;
  const closers: SessionEvent[] = [];
  const close = (draft: Draft): void => {
    closers.push(sealEvent({ ...draft, seq: nextSeq + closers.length, time: lastTime }));
  };
  if (step !== undefined) {
    for (const call of calls) close(resultFor(call, { turn, step }, nextSeq + closers.length));
    close({ type: 'step/end', data: { turn, step } });
  }
  close({ type: 'turn/end', data: { turn, reason: { kind: 'interrupted' } } });
  return closers;
}

function resultFor({ callId, seq: callSeq }: PendingCall, at: object, seq: number): Draft {
  const isLogged = callSeq !== undefined;
  const content = [{ type: 'text', text: isLogged ? OUTCOME_UNKNOWN : NOT_STARTED }];
  const data = {
    ...at,
    message: {
      id: `interrupted-tool-result-${callId}-${seq}`,
      role: 'user',
      content: [{ type: 'tool-result', toolCallId: callId, content, isError: true }],
      source: { kind: 'tool', callId },
    },
    error: isLogged
      ? { name: 'ToolOutcomeUnknownError', code: 'TOOL_OUTCOME_UNKNOWN' }
      : { name: 'ToolNotStartedError', code: 'TOOL_NOT_STARTED' },
  };
  const draft = { type: 'tool/result', data, surfaceOp: 'append' } as const;
  return isLogged ? { ...draft, sourceEventSeqs: [callSeq] } : draft;
}
