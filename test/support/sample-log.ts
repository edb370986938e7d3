import type { SessionEvent } from '../../src/protocol/index.js';
import type { EncodedEvent, SessionHeader } from '../../src/session/index.js';

export const SAMPLE_HEADER: SessionHeader = {
  type: 'session',
  version: 0,
  id: 's',
  createdAt: 1_760_000_000_000,
  cwd: '/ws',
  delegationDepth: 0,
};

export interface SampleTurn {
  readonly turn: number;
  /** Seq of its first event. */
  readonly seq: number;
  /** The streamed answer. */
  readonly texts?: readonly string[];
}

/** The events of one turn with an answer in so many pieces, as a session logs them. */
export function turnEvents({ turn, seq: first, texts = ['An', 'swer', ': ', '4 台🔥'] }: SampleTurn): SessionEvent[] {
  const events: object[] = [];
  const at = { turn, step: 1 };
  const add = (type: string, data: object, placement: object = {}): number => {
    const seq = first + events.length;
    events.push({ type, seq, time: 1_760_000_000_000 + ((seq * 7) % 40), data, ...placement });
    return seq;
  };
  const append = { surfaceOp: 'append' };
  const content = [{ type: 'text', text: `question ${turn}` }];
  add('turn/start', { turn });
  add('step/start', at);
  add('user/message', { id: `u-${turn}`, role: 'user', content, source: { kind: 'user' } }, append);
  const chunks = [
    { type: 'block-start', index: 0, blockType: 'text' },
    ...texts.map((text) => ({ type: 'text-delta', index: 0, text })),
    { type: 'block-end', index: 0, block: { type: 'text', text: texts.join('') } },
    { type: 'finish', reason: { kind: 'stop' } },
  ].map((chunk) => add('assistant/chunk', { ...at, chunk }));
  const message = {
    id: `a-${turn}`,
    role: 'assistant',
    content: [{ type: 'text', text: texts.join('') }],
    source: { kind: 'model', provider: 'p', model: 'm' },
  };
  add('assistant/message', { ...at, message }, { ...append, sourceEventSeqs: chunks });
  add('step/end', at);
  add('turn/end', { turn, reason: { kind: 'completed' } });
  return events as SessionEvent[];
}

/** So many turns. */
export function turns(count: number, texts?: readonly string[]): SessionEvent[] {
  const events: SessionEvent[] = [];
  for (let turn = 1; turn <= count; turn += 1) {
    events.push(...turnEvents({ turn, seq: events.length, ...(texts && { texts }) }));
  }
  return events;
}

/** As an append takes them. */
export function encoded(events: readonly SessionEvent[]): EncodedEvent[] {
  return events.map((event) => ({ seq: event.seq, json: JSON.stringify(event) }));
}

/** The text of a plain log. */
export function logText(events: readonly (SessionEvent | string)[], header: object = SAMPLE_HEADER): string {
  return [header, ...events].map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('');
}
