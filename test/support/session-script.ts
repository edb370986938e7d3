import { type Arbitrary, array, constantFrom, nat, record, string } from 'fast-check';
import type { Message, SessionEvent, SessionEventOf, ToolCallBlock } from '../../src/protocol/index.js';
import type { Session } from '../../src/session/index.js';
import { human, resultOf, said } from './session-world.js';

const KINDS = [
  'end turn',
  'end step',
  'message',
  'chunk',
  'answer',
  'calls',
  'call',
  'result',
  'unstarted',
  'retry',
  'header',
  'context',
  'title',
  'push',
  'claim',
  'cancel',
  'compact',
  'prune',
] as const;

/** One thing that may happen in a session; what does not fit where it comes is made to fit, or passed over. */
export interface Move {
  readonly kind: (typeof KINDS)[number];
  readonly pick: number;
  readonly text: string;
}

export const anyMove: Arbitrary<Move> = record({
  kind: constantFrom(...KINDS),
  pick: nat(1000),
  text: string({ maxLength: 8 }),
});
export const anyMoves: Arbitrary<Move[]> = array(anyMove, { maxLength: 80 });

type ResultEvent = SessionEventOf<'tool/result'>;
const append = { surfaceOp: 'append' } as const;

/** Turns moves into a valid session, knowing the rules on its own. */
export class ScriptPlayer {
  #turn = 0;
  #inTurn = false;
  #step = 0;
  #inStep = false;
  #ids = 0;
  /** Calls of the open step: asked for, and logged. */
  #asked: string[] = [];
  #started: { readonly id: string; readonly seq: number }[] = [];
  readonly #surface: SessionEvent[] = [];
  readonly #queue: string[] = [];
  readonly #moves: Record<Move['kind'], (pick: number, text: string) => void> = {
    'end turn': () => this.#endTurn(),
    'end step': () => this.#endStep(),
    message: (_, text) => this.#show(this.session.append('user/message', human(this.#id(text)), append)),
    chunk: (_, text) =>
      this.session.append('assistant/chunk', { ...this.#at(), chunk: { type: 'text-delta', index: 0, text } }),
    answer: (pick, text) => this.#answer(pick, text),
    calls: (pick, text) => this.#answerWithCalls(1 + (pick % 3), text),
    call: (_, text) => this.#call(text),
    result: (pick, text) => this.#result(pick, text),
    unstarted: (_, text) => this.#unstarted(text),
    retry: (_, text) => this.session.append('llm/retry-started', { retryId: text, ...this.#at(), retry: 1 }),
    header: (_, text) => {
      this.#enterTurn();
      this.session.append('request/header', { header: { config: { provider: text, model: 'm' } }, reason: 'change' });
    },
    context: (pick, text) => {
      this.#enterTurn();
      this.session.append('request/context', { provider: text, model: 'm', contextWindow: pick });
    },
    title: (_, text) =>
      this.session.append('session/title', { title: text, messageSeqs: [], source: { kind: 'user' } }),
    push: (pick, text) => this.#push(pick, text),
    claim: (pick) => this.#remove(pick, false),
    cancel: (pick) => this.#remove(pick, true),
    compact: (pick, text) => this.#compact(pick, text),
    prune: (pick, text) => this.#prune(pick, text),
  };

  /** A session that was continued takes the place of the one before. */
  constructor(public session: Session) {}

  get betweenTurns(): boolean {
    return !this.#inTurn;
  }

  playAll(moves: readonly Move[]): void {
    for (const move of moves) this.play(move);
  }

  play({ kind, pick, text }: Move): void {
    this.#moves[kind](pick, text);
  }

  #answer(pick: number, text: string): void {
    const message = pick % 3 === 0 ? said() : said({ type: 'text', text });
    const interrupted = pick % 2 === 0 ? { interrupted: true as const } : {};
    this.#show(this.session.append('assistant/message', { ...this.#at(), message, ...interrupted }, append));
  }

  #endTurn(): void {
    if (!this.#inTurn) return;
    this.#endStep();
    this.session.append('turn/end', { turn: this.#turn, reason: { kind: 'completed' } });
    this.#inTurn = false;
  }

  #endStep(): void {
    if (!this.#inStep) return;
    this.session.append('step/end', this.#at());
    this.#inStep = false;
    this.#asked = [];
    this.#started = [];
  }

  #enterTurn(): void {
    if (this.#inTurn) return;
    this.#turn += 1;
    this.session.append('turn/start', { turn: this.#turn });
    this.#inTurn = true;
    this.#step = 0;
  }

  /** Turn and step, opened where they are not. */
  #at(): { turn: number; step: number } {
    this.#enterTurn();
    const at = { turn: this.#turn, step: this.#inStep ? this.#step : this.#step + 1 };
    if (!this.#inStep) this.session.append('step/start', at);
    this.#inStep = true;
    this.#step = at.step;
    return at;
  }

  #answerWithCalls(count: number, text: string): void {
    const at = this.#at();
    const calls = Array.from({ length: count }, () => {
      const id = this.#id(text);
      return { type: 'tool-call', id, name: 't', arguments: '' } satisfies ToolCallBlock;
    });
    this.#show(this.session.append('assistant/message', { ...at, message: said(...calls) }, append));
    this.#asked.push(...calls.map(({ id }) => id));
  }

  #call(text: string): void {
    if (!this.#inStep || this.#asked.length === 0) this.#answerWithCalls(1, text);
    const callId = this.#asked.shift() ?? '';
    const { seq } = this.session.append('tool/call', { ...this.#at(), callId, name: 't', arguments: '' });
    this.#started.push({ id: callId, seq });
  }

  #result(pick: number, text: string): void {
    if (this.#started.length === 0) this.#call(text);
    for (const { id, seq } of this.#started.splice(pick % this.#started.length, 1)) {
      const data = { ...this.#at(), message: resultOf(id, text), meta: { list: [pick] } };
      this.#show(this.session.append('tool/result', data, { ...append, sourceEventSeqs: [seq] }));
    }
  }

  #unstarted(text: string): void {
    if (!this.#inStep || this.#asked.length === 0) this.#answerWithCalls(1, text);
    const error = { name: 'ToolNotStartedError', code: 'TOOL_NOT_STARTED' };
    const message = resultOf(this.#asked.shift() ?? '', text);
    this.#show(this.session.append('tool/result', { ...this.#at(), message, error }, append));
  }

  #push(pick: number, text: string): void {
    const id = this.#id(text);
    const start = pick % (this.#queue.length + 1);
    this.session.append('agent/inbox/spliced', { target: 'next-turn', start, inserted: [human(id)] });
    this.#queue.splice(start, 0, id);
  }

  #remove(pick: number, isCancel: boolean): void {
    const start = pick % (this.#queue.length + 1);
    const removedCount = Math.min(2, this.#queue.length - start);
    if (removedCount === 0) return;
    const splice = { target: 'next-turn', start, removedCount, inserted: [] } as const;
    this.session.append('agent/inbox/spliced', { ...splice, ...(isCancel && { outcome: 'canceled' }) });
    this.#queue.splice(start, removedCount);
  }

  #compact(pick: number, text: string): void {
    if (this.#surface.length === 0) return;
    const first = pick % this.#surface.length;
    const removed = this.#surface.slice(first, first + 1 + (pick % 4));
    const seqs = removed.map(({ seq }) => seq);
    const surfaceOp = { op: 'replace', start: seqs[0] ?? 0, end: seqs.at(-1) ?? 0 } as const;
    const event = this.session.append('user/message', human(this.#id(text)), { surfaceOp, sourceEventSeqs: seqs });
    this.#surface.splice(first, removed.length, event);
  }

  #prune(pick: number, text: string): void {
    const results = this.#surface.filter((event): event is ResultEvent => event.type === 'tool/result');
    const old = results[pick % Math.max(1, results.length)];
    if (old === undefined) return;
    this.#enterTurn();
    const { data, seq } = old;
    const content = [{ ...data.message.content[0], content: [{ type: 'text', text }] }] as const;
    const event = this.session.append(
      'tool/result',
      { ...data, message: { ...data.message, content } },
      { surfaceOp: { op: 'replace', start: seq, end: seq }, sourceEventSeqs: [seq] },
    );
    this.#surface[this.#surface.indexOf(old)] = event;
  }

  #show(event: SessionEvent): void {
    this.#surface.push(event);
  }

  #id(text: string): string {
    this.#ids += 1;
    return `${text}-${this.#ids}`;
  }
}

/** The history of a log, found the plain way: all at once. */
export function historyOf(events: readonly SessionEvent[]): Message[] {
  let nodes: SessionEvent[] = [];
  for (const event of events) {
    const op = event.surfaceOp;
    if (op === undefined) continue;
    if (op === 'append') nodes = [...nodes, event];
    else {
      const first = nodes.findIndex(({ seq }) => seq === op.start);
      const last = nodes.findIndex(({ seq }) => seq === op.end);
      nodes = [...nodes.slice(0, first), event, ...nodes.slice(last + 1)];
    }
  }
  return nodes.flatMap((event): readonly Message[] => {
    if (event.type === 'user/message') return [event.data];
    if (event.type !== 'assistant/message' && event.type !== 'tool/result') return [];
    const { message } = event.data;
    return message.content.length === 0 ? [] : [message];
  });
}
