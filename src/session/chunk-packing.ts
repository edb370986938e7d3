import { isObject } from '../base/index.js';
import type { SessionEvent, StreamChunk } from '../protocol/index.js';

/** A shorter run is not worth a row (core §4.3). */
const MIN_RUN = 3;
/** Bounds what a reader has to hold for one line. */
const MAX_RUN = 4_096;
const CHUNK_LINE = '{"type":"assistant/chunk",';

type DeltaType = 'text-delta' | 'reasoning-delta' | 'tool-call-delta';
type RowType = 'text-chunks' | 'reasoning-chunks' | 'tool-call-chunks';
type Fields = Readonly<Record<string, unknown>>;

const ROW_OF: Readonly<Record<DeltaType, RowType>> = {
  'text-delta': 'text-chunks',
  'reasoning-delta': 'reasoning-chunks',
  'tool-call-delta': 'tool-call-chunks',
};
const DELTA_OF: ReadonlyMap<unknown, DeltaType> = new Map(
  Object.entries(ROW_OF).map(([delta, row]) => [row, delta as DeltaType]),
);

/** What the deltas of one row have in common. */
interface RunKey {
  readonly type: DeltaType;
  readonly turn: number;
  readonly step: number;
  readonly index: number;
  /** Tool calls only, as is `name`. */
  readonly id?: string;
  readonly name?: string;
}
interface Delta {
  readonly key: RunKey;
  readonly seq: number;
  readonly time: number;
  readonly text: string;
}

/**
 * Packs event lines (core §4.3): runs of three and more deltas of one block become rows, every other line stays as it
 * is. {@link unpackRow} gives the same events back, byte for byte when they are stringified.
 */
export class ChunkPacker {
  #run: Delta[] = [];
  #lines: string[] = [];

  /** @param write hears each line of the result, without newline and in order */
  constructor(private readonly write: (line: string) => void) {}

  /** Takes the next line of a log, without its newline; rows are passed on. */
  add(line: string): void {
    const delta = line.startsWith(CHUNK_LINE) ? readDelta(line) : undefined;
    if (delta === undefined) {
      this.end();
      this.write(line);
      return;
    }
    const last = this.#run.at(-1);
    if (last !== undefined && (this.#run.length === MAX_RUN || !continues(last, delta))) this.end();
    this.#run.push(delta);
    this.#lines.push(line);
  }

  /** Writes what is held back. More lines may follow; they begin a new run. */
  end(): void {
    const run = this.#run;
    const lines = this.#lines;
    this.#run = [];
    this.#lines = [];
    if (run.length >= MIN_RUN) this.write(JSON.stringify(rowOf(run)));
    else for (const line of lines) this.write(line);
  }
}

/** Whether a line of this `type` stands for several events. */
export function isPackedRow(type: unknown): boolean {
  return DELTA_OF.has(type);
}

/**
 * The frozen events of a row (core §4.3).
 *
 * @throws Error saying what is wrong with the row; it is then no row at all, and nothing of it may be used
 */
export function unpackRow(row: Fields): readonly SessionEvent[] {
  const type = DELTA_OF.get(row.type);
  const { data, seq0, time0 } = row;
  if (type === undefined || !isObject(data)) throw malformed('data must be an object');
  const isTool = type === 'tool-call-delta';
  const textsKey = isTool ? 'args' : 'texts';
  requireKeys(row, ['type', 'seq0', 'time0', 'data'], 'the row');
  const optional = isTool && 'name' in data ? ['name'] : [];
  requireKeys(data, ['turn', 'step', 'index', 'dt', textsKey, ...(isTool ? ['id'] : []), ...optional], 'data');
  const texts = stringsOf(data[textsKey], textsKey);
  const gaps = gapsOf(data.dt, texts.length);
  const key: RunKey = {
    type,
    turn: integer(data.turn, 'turn'),
    step: integer(data.step, 'step'),
    index: integer(data.index, 'index'),
    ...(isTool && { id: string(data.id, 'id') }),
    ...(optional.length > 0 && { name: string(data.name, 'name') }),
  };
  const seq = integer(seq0, 'seq0');
  let time = integer(time0, 'time0');
  return texts.map((text, at) => {
    if (at > 0) time = integer(time + (gaps[at - 1] ?? 0), 'a time');
    return chunkEvent({ key, seq: seq + at, time, text });
  });
}

/** The delta of a line that is worded exactly as {@link chunkEvent} would word it: nothing else can be given back. */
function readDelta(line: string): Delta | undefined {
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch {
    return undefined;
  }
  const { seq, time, data } = event as Fields;
  if (!isInteger(seq) || !isInteger(time) || !isObject(data) || !isObject(data.chunk)) return undefined;
  const { turn, step, chunk } = data;
  const { type, index, id, name } = chunk;
  const text = type === 'tool-call-delta' ? chunk.argumentsDelta : chunk.text;
  if (!isInteger(turn) || !isInteger(step) || !isInteger(index) || typeof text !== 'string') return undefined;
  if (!isDeltaType(type) || (type === 'tool-call-delta') !== (typeof id === 'string')) return undefined;
  const key: RunKey = {
    type,
    turn,
    step,
    index,
    ...(typeof id === 'string' && { id }),
    ...(typeof name === 'string' && { name }),
  };
  const delta: Delta = { key, seq, time, text };
  return JSON.stringify(chunkEvent(delta)) === line ? delta : undefined;
}

function continues(last: Delta, next: Delta): boolean {
  const [a, b] = [last.key, next.key];
  return (
    next.seq === last.seq + 1 &&
    a.type === b.type &&
    a.turn === b.turn &&
    a.step === b.step &&
    a.index === b.index &&
    a.id === b.id &&
    a.name === b.name &&
    isInteger(next.time - last.time)
  );
}

function rowOf(run: readonly Delta[]): object {
  const [first] = run;
  if (first === undefined) throw new RangeError('a row cannot be empty');
  const { type, turn, step, index, id, name } = first.key;
  const dt = run.slice(1).map(({ time }, at) => time - (run[at]?.time ?? 0));
  const texts = run.map(({ text }) => text);
  const tool = { id, ...(name !== undefined && { name }), args: texts };
  const data = { turn, step, index, dt, ...(type === 'tool-call-delta' ? tool : { texts }) };
  return { type: ROW_OF[type], seq0: first.seq, time0: first.time, data };
}

function chunkEvent({ key, seq, time, text }: Delta): SessionEvent {
  const { turn, step } = key;
  const data = Object.freeze({ turn, step, chunk: Object.freeze(chunkOf(key, text)) });
  return Object.freeze({ type: 'assistant/chunk', seq, time, data });
}

function chunkOf({ type, index, id = '', name }: RunKey, text: string): StreamChunk {
  if (type !== 'tool-call-delta') return { type, index, text };
  return name === undefined
    ? { type, index, id, argumentsDelta: text }
    : { type, index, id, name, argumentsDelta: text };
}

function requireKeys(fields: Fields, keys: readonly string[], what: string): void {
  const missing = keys.find((key) => !(key in fields));
  if (missing !== undefined) throw malformed(`${what} lacks ${missing}`);
  const extra = Object.keys(fields).find((key) => !keys.includes(key));
  if (extra !== undefined) throw malformed(`${JSON.stringify(extra)} is not a member of ${what}`);
}

function stringsOf(value: unknown, what: string): readonly string[] {
  if (Array.isArray(value) && value.length > 0 && value.every((text) => typeof text === 'string')) return value;
  throw malformed(`${what} must be a list of strings`);
}

function gapsOf(value: unknown, texts: number): readonly number[] {
  if (Array.isArray(value) && value.length === texts - 1 && value.every(isInteger)) return value;
  throw malformed(`dt must be a list of ${texts - 1} whole numbers`);
}

function integer(value: unknown, what: string): number {
  if (isInteger(value)) return value;
  throw malformed(`${what} must be a safe integer`);
}

function string(value: unknown, what: string): string {
  if (typeof value === 'string') return value;
  throw malformed(`${what} must be a string`);
}

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value) && !Object.is(value, -0);
}

function isDeltaType(value: unknown): value is DeltaType {
  return typeof value === 'string' && Object.hasOwn(ROW_OF, value);
}

function malformed(problem: string): Error {
  return new Error(`malformed row: ${problem}`);
}
