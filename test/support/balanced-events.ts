import type { InboxTarget, SdkRunStatus, SessionEvent } from '../../src/protocol/index.js';

/** What one session said, in the order of the wire. */
export type Heard = { readonly event: SessionEvent } | { readonly status: SdkRunStatus };

/** What a balanced log comes to. */
export interface Balance {
  /** `turn/end` reasons, by turn. */
  readonly ends: readonly string[];
  /** Ids of messages that entered a turn, in claim order. */
  readonly claimed: readonly string[];
  readonly cancelled: readonly string[];
  readonly pending: readonly string[];
}

/**
 * Holds a session's notifications against the invariants of core §2.2, 2.7, 2.8, 2.12, 2.13 and of the statuses (§1.8).
 *
 * @param settled whether the agent is idle: then nothing may be open
 * @throws Error naming the first notification that breaks a rule
 */
export function assertBalanced(heard: readonly Heard[], settled = true): Balance {
  const balance = new Ledger();
  heard.forEach((item, index) => {
    try {
      if ('status' in item) balance.status(item.status);
      else balance.event(item.event);
    } catch (thrown) {
      const shown = 'status' in item ? item.status : `${item.event.type} (seq ${item.event.seq})`;
      throw new Error(`notification ${index}, ${shown}: ${(thrown as Error).message}\n${outline(heard)}`);
    }
  });
  if (settled) balance.settled(outline(heard));
  return balance;
}

class Ledger implements Balance {
  readonly ends: string[] = [];
  readonly claimed: string[] = [];
  readonly cancelled: string[] = [];
  readonly #entered = new Set<string>();
  readonly #inbox: Record<InboxTarget, string[]> = { 'next-turn': [], 'next-step': [] };
  #seq = 0;
  #running = false;
  #turn = 0;
  #turnOpen = false;
  #step = 0;
  #stepOpen = false;
  #chunks: number[] = [];
  #finished = false;
  #wanted: string[] = [];
  #open: { readonly id: string; readonly seq: number }[] = [];

  get pending(): readonly string[] {
    return [...this.#inbox['next-turn'], ...this.#inbox['next-step']];
  }

  status(status: SdkRunStatus): void {
    check(this.#running !== (status === 'running'), 'statuses do not alternate');
    check(!this.#turnOpen, 'a status inside a turn');
    this.#running = status === 'running';
  }

  settled(shown: string): void {
    check(!this.#running && !this.#turnOpen && !this.#stepOpen, `something is still open:\n${shown}`);
    check(
      this.claimed.every((id) => this.#entered.has(id)) || this.ends.some((kind) => kind !== 'completed'),
      `a claimed message did not enter its turn:\n${shown}`,
    );
  }

  event(event: SessionEvent): void {
    check(event.seq === this.#seq, `seq ${this.#seq} expected`);
    this.#seq += 1;
    switch (event.type) {
      case 'turn/start':
        check(this.#running, 'a turn while idle');
        check(!this.#turnOpen && event.data.turn === this.#turn + 1, 'turns do not follow each other');
        this.#turn += 1;
        this.#turnOpen = true;
        this.#step = 0;
        return;
      case 'turn/end':
        check(this.#turnOpen && event.data.turn === this.#turn && !this.#stepOpen, 'ends a turn that is not open');
        this.#turnOpen = false;
        this.ends.push(event.data.reason.kind);
        return;
      case 'step/start':
        check(this.#turnOpen && !this.#stepOpen, 'a step outside its turn');
        this.#at(event.data, this.#step + 1);
        this.#step += 1;
        this.#stepOpen = true;
        this.#chunks = [];
        this.#finished = false;
        return;
      case 'llm/retry':
        this.#inStep(event.data);
        this.#chunks = [];
        this.#finished = false;
        return;
      case 'step/end':
        this.#inStep(event.data);
        check(this.#open.length === 0 && this.#wanted.length === 0, 'a tool call without its result');
        this.#stepOpen = false;
        return;
      case 'user/message':
        check(this.#stepOpen && this.#chunks.length === 0, 'a user message outside the start of a step');
        check(this.claimed.includes(event.data.id) && !this.#entered.has(event.data.id), 'was not claimed, or twice');
        this.#entered.add(event.data.id);
        return;
      case 'request/header':
      case 'request/context':
        check(this.#turnOpen, 'outside a turn');
        return;
      case 'assistant/chunk':
        this.#inStep(event.data);
        check(!this.#finished, 'a chunk after the finish');
        this.#finished = event.data.chunk.type === 'finish';
        this.#chunks.push(event.seq);
        return;
      case 'assistant/message': {
        this.#inStep(event.data);
        check(same(event.sourceEventSeqs ?? [], this.#chunks), 'does not cite exactly its chunks');
        check(event.data.interrupted === true || this.#finished, 'a whole message of an unfinished stream');
        const calls = event.data.message.content.filter((block) => block.type === 'tool-call');
        check(event.data.interrupted !== true || calls.length === 0, 'an interrupted message with tool calls');
        this.#wanted = calls.map((call) => call.id);
        return;
      }
      case 'tool/call':
        this.#inStep(event.data);
        check(this.#wanted.shift() === event.data.callId, 'not the next call of the message');
        this.#open.push({ id: event.data.callId, seq: event.seq });
        return;
      case 'tool/result': {
        this.#inStep(event.data);
        const call = this.#open.shift();
        check(call?.id === event.data.message.source.callId, 'a result without its call');
        check(same(event.sourceEventSeqs ?? [], [call?.seq ?? -1]), 'does not cite its call');
        return;
      }
      case 'agent/inbox/spliced':
        this.#splice(event.data);
        return;
      default:
        return;
    }
  }

  #splice(data: Extract<SessionEvent, { type: 'agent/inbox/spliced' }>['data']): void {
    const list = this.#inbox[data.target];
    const { start, removedCount = 0, inserted } = data;
    check(start >= 0 && start + removedCount <= list.length, `a splice outside the list of ${list.length}`);
    check(removedCount + inserted.length > 0, 'a splice of nothing');
    const removed = list.splice(start, removedCount, ...inserted.map((message) => message.id));
    check(new Set(this.pending).size === this.pending.length, 'an id twice');
    if (data.outcome === 'canceled') this.cancelled.push(...removed);
    else this.claimed.push(...removed);
    if (removed.length > 0 && data.outcome === undefined) check(this.#turnOpen && !this.#stepOpen, 'a claim in a step');
  }

  #inStep(at: { readonly turn: number; readonly step: number }): void {
    check(this.#stepOpen, 'outside a step');
    this.#at(at, this.#step);
  }

  #at(at: { readonly turn: number; readonly step: number }, step: number): void {
    check(at.turn === this.#turn && at.step === step, `names ${at.turn}/${at.step} in ${this.#turn}/${step}`);
  }
}

function check(holds: boolean, rule: string): void {
  if (!holds) throw new Error(rule);
}

function same(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index]);
}

/** The notifications' types in order, as a failure shows them. */
export function outline(heard: readonly Heard[]): string {
  return heard.map((item) => ('status' in item ? item.status : item.event.type)).join('\n');
}
