import { isEvent, type SessionEvent, type SessionEventMap } from '../protocol/index.js';
import { invalidEvent } from './errors.js';

/** Where an event says it belongs; types that belong nowhere have neither. */
interface Position {
  readonly turn?: unknown;
  readonly step?: unknown;
}

/** A tool call that the open step owes a result for. */
export interface PendingCall {
  readonly callId: string;
  /** Of its `tool/call`; undefined while only the assistant message names it. */
  readonly seq: number | undefined;
}

/** What a log that ends here leaves open (core §3.9). */
export interface OpenTurn {
  readonly turn: number;
  /** Undefined between steps. */
  readonly step: number | undefined;
  /** In the order of the log; empty between steps. */
  readonly calls: readonly PendingCall[];
}

/**
 * Holds a session's events against the rules of core §2.13: which turn and step are open, and which calls of the step
 * wait for a result. The same whether it follows a live session or reads a log; knows all types of the catalogue.
 */
export class TurnTracker {
  #turn = 0;
  #turnOpen = false;
  #step = 0;
  #stepOpen = false;
  #calls: PendingCall[] = [];

  /** Number of the last turn started, 0 before the first. */
  get lastTurn(): number {
    return this.#turn;
  }

  /** Undefined between turns. */
  get openTurn(): OpenTurn | undefined {
    if (!this.#turnOpen) return undefined;
    return { turn: this.#turn, step: this.#stepOpen ? this.#step : undefined, calls: [...this.#calls] };
  }

  /**
   * Judges the event that would come next; changes nothing.
   *
   * @throws CodedError `INVALID_EVENT` naming the rule
   */
  check(event: SessionEvent): void {
    // Most events are chunks.
    const problem = isEvent(event, 'assistant/chunk') ? this.#outsideStep(event.data) : this.#problem(event);
    if (problem !== undefined) throw invalidEvent(`${event.type} ${problem}`);
  }

  /** Takes an event that {@link check} passed. */
  commit(event: SessionEvent): void {
    switch (event.type) {
      case 'assistant/chunk':
        return;
      case 'turn/start':
        this.#turn = event.data.turn;
        this.#turnOpen = true;
        this.#step = 0;
        return;
      case 'turn/end':
        this.#turnOpen = false;
        return;
      case 'step/start':
        this.#step = event.data.step;
        this.#stepOpen = true;
        return;
      case 'step/end':
        this.#stepOpen = false;
        this.#calls = [];
        return;
      case 'assistant/message':
        if (event.surfaceOp === 'append') this.#request(event.data);
        return;
      case 'tool/call':
        this.#start(event.data.callId, event.seq);
        return;
      case 'tool/result':
        if (event.surfaceOp === 'append') this.#answer(event.data);
        return;
    }
  }

  #problem(event: SessionEvent): string | undefined {
    const at = event.data as Position;
    switch (event.type as string) {
      case 'turn/start':
        if (this.#turnOpen) return `must not begin while turn ${this.#turn} is open`;
        return at.turn === this.#turn + 1 ? undefined : `must begin turn ${this.#turn + 1}, not ${shown(at.turn)}`;
      case 'turn/end':
        if (this.#stepOpen) return `must not come while step ${this.#step} is open`;
        return this.#outsideTurn() ?? this.#misnamesTurn(at.turn);
      case 'step/start':
        if (this.#stepOpen) return `must not begin while step ${this.#step} is open`;
        return this.#outsideTurn() ?? this.#misnamesTurn(at.turn) ?? this.#skipsStep(at.step);
      case 'step/end':
      case 'assistant/message':
      case 'tool/call':
      case 'llm/retry':
      case 'llm/retry-started':
        return this.#outsideStep(at);
      case 'tool/result':
        if (event.surfaceOp !== 'append') return this.#outsideTurn();
        return this.#outsideStep(at) ?? this.#answersNothing(event.data as SessionEventMap['tool/result']);
      case 'request/header':
      case 'request/context':
      case 'todo/write':
        return this.#outsideTurn();
      default:
        return undefined;
    }
  }

  #outsideTurn(): string | undefined {
    return this.#turnOpen ? undefined : 'must be inside a turn';
  }

  #misnamesTurn(turn: unknown): string | undefined {
    return turn === this.#turn ? undefined : `must name turn ${this.#turn}, which is open, not ${shown(turn)}`;
  }

  #skipsStep(step: unknown): string | undefined {
    return step === this.#step + 1 ? undefined : `must begin step ${this.#step + 1}, not ${shown(step)}`;
  }

  #outsideStep({ turn, step }: Position): string | undefined {
    if (this.#stepOpen && step === this.#step && turn === this.#turn) return undefined;
    if (!this.#stepOpen) return 'must be inside a step';
    return `must name turn ${this.#turn} and step ${this.#step}, which are open, not ${shown(turn)} and ${shown(step)}`;
  }

  #answersNothing(data: SessionEventMap['tool/result']): string | undefined {
    const { callId } = data.message.source;
    if (isNotStarted(data) || this.#indexOf(callId, true) >= 0) return undefined;
    return `must answer a tool/call of the same step: none of ${JSON.stringify(callId)} is open`;
  }

  #request({ message }: SessionEventMap['assistant/message']): void {
    for (const block of message.content) {
      if (block.type === 'tool-call') this.#calls.push({ callId: block.id, seq: undefined });
    }
  }

  #start(callId: string, seq: number): void {
    const at = this.#indexOf(callId, false);
    if (at < 0) this.#calls.push({ callId, seq });
    else this.#calls[at] = { callId, seq };
  }

  #answer(data: SessionEventMap['tool/result']): void {
    const at = this.#indexOf(data.message.source.callId, !isNotStarted(data));
    if (at >= 0) this.#calls.splice(at, 1);
  }

  /** A model may give two calls one id: the earlier one is meant. */
  #indexOf(callId: string, isLogged: boolean): number {
    return this.#calls.findIndex((call) => call.callId === callId && (call.seq !== undefined) === isLogged);
  }
}

/** Such a result stands for a call that never was logged. */
function isNotStarted({ error }: SessionEventMap['tool/result']): boolean {
  return error?.code === 'TOOL_NOT_STARTED';
}

function shown(value: unknown): string {
  return JSON.stringify(value) ?? 'nothing';
}
