import { isDeepStrictEqual } from 'node:util';
import { isEvent, type Message, type SessionEvent, type SessionEventMap, type SurfaceOp } from '../protocol/index.js';
import { invalidEvent } from './errors.js';

type ResultData = SessionEventMap['tool/result'];
type Range = Exclude<SurfaceOp, 'append'>;

interface SurfaceNode {
  readonly seq: number;
  /** Undefined on an assistant message without content: it stands in the history and says nothing. */
  readonly message: Message | undefined;
  /** Set on tool results only: what a replacement has to keep. */
  readonly result: ResultData | undefined;
}

/** The model-visible history as surface events make it (core §2.2). The events themselves are not kept. */
export class Surface {
  readonly #nodes: SurfaceNode[] = [];

  /** Oldest first. */
  messages(): Message[] {
    return this.#nodes.flatMap(({ message }) => message ?? []);
  }

  /**
   * Judges whether a sealed surface event fits; changes nothing.
   *
   * @throws CodedError `INVALID_EVENT`: a `replace` does not name a range of what stands here, does not cite all that
   *   it removes, or makes of a tool result what it may not
   */
  check(event: SessionEvent): void {
    const { surfaceOp, sourceEventSeqs = [] } = event;
    if (surfaceOp === undefined || surfaceOp === 'append') return;
    const [first, last] = this.#locate(surfaceOp);
    const removed = this.#nodes.slice(first, last + 1);
    const sources = new Set(sourceEventSeqs);
    const uncited = removed.find(({ seq }) => !sources.has(seq));
    if (uncited !== undefined) {
      throw invalidEvent(`sourceEventSeqs must name event ${uncited.seq}, which surfaceOp replaces`);
    }
    if (isEvent(event, 'tool/result')) requireSameResult(event.data, removed);
  }

  /** Takes a surface event that {@link check} passed. */
  commit(event: SessionEvent): void {
    const { seq, surfaceOp } = event;
    const result = isEvent(event, 'tool/result') ? event.data : undefined;
    const node = { seq, message: messageOf(event), result };
    if (surfaceOp === undefined || surfaceOp === 'append') {
      this.#nodes.push(node);
      return;
    }
    const [first, last] = this.#locate(surfaceOp);
    this.#nodes.splice(first, last + 1 - first, node);
  }

  /** Indices of the range's ends, both inclusive. Replacements keep their place, so seqs do not ascend here. */
  #locate({ start, end }: Range): readonly [number, number] {
    const first = this.#indexOf(start, 'start');
    const last = this.#indexOf(end, 'end');
    if (first > last) throw invalidEvent(`surfaceOp.start ${start} must not stand after surfaceOp.end ${end}`);
    return [first, last];
  }

  #indexOf(seq: number, key: 'start' | 'end'): number {
    const index = this.#nodes.findIndex((node) => node.seq === seq);
    if (index < 0) throw invalidEvent(`surfaceOp.${key} ${seq} is not in the history`);
    return index;
  }
}

function requireSameResult(data: ResultData, removed: readonly SurfaceNode[]): void {
  const [replaced, second] = removed;
  if (replaced?.result === undefined || second !== undefined) {
    throw invalidEvent('a tool/result may replace one tool/result and nothing else');
  }
  if (isDeepStrictEqual(withoutContent(data), withoutContent(replaced.result))) return;
  throw invalidEvent(`a tool/result may change only the content of the result that it replaces, event ${replaced.seq}`);
}

function withoutContent(data: ResultData): ResultData {
  const { message } = data;
  return { ...data, message: { ...message, content: [{ ...message.content[0], content: [] }] } };
}

function messageOf(event: SessionEvent): Message | undefined {
  if (isEvent(event, 'user/message')) return event.data;
  if (isEvent(event, 'tool/result')) return event.data.message;
  if (isEvent(event, 'assistant/message') && event.data.message.content.length > 0) return event.data.message;
  return undefined;
}
