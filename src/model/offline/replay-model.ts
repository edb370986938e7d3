import { setImmediate } from 'node:timers/promises';
import { toError } from '../../base/index.js';
import type { Message, StreamChunk } from '../../protocol/index.js';
import { type LogReading, readSessionLog } from '../../session/index.js';
import type { ModelRequest } from '../adapter.js';
import { LlmError } from '../errors.js';
import { Cassette, type Take } from './cassette.js';
import { firstDifference } from './heard.js';
import { TextMap } from './text-map.js';

interface Tape {
  readonly takes: readonly Take[];
  /** Workspace of the recorded session. */
  readonly cwd: string | undefined;
}

/** How far one session has come. */
interface Cursor {
  readonly requests: number;
  /** Ids of the messages that the last request carried. */
  readonly known: ReadonlySet<string>;
}

/**
 * Plays a session log (decision 25): the Nth request of a session is answered as the Nth call of the log was, failures
 * included, and without delays. What is new in the history since the last request has to be what was recorded.
 *
 * The recorded workspace stands for the session's own, and each key of `replayMap` for its value, in which `${cwd}` is
 * the session's workspace: in arguments of tool calls that are sent out, and in what they are compared with.
 */
export class ReplayModel {
  readonly #path: string;
  readonly #map: Readonly<Record<string, string>>;
  readonly #cursors = new Map<string, Cursor>();
  #tape: Promise<Tape> | undefined;

  /** `path` is absolute; the log is read at the first call, and again only after a failure. */
  constructor(path: string, replayMap: Readonly<Record<string, string>>) {
    this.#path = path;
    this.#map = replayMap;
  }

  async *play(request: ModelRequest): AsyncGenerator<readonly StreamChunk[]> {
    const { signal } = request;
    const tape = await this.#load();
    const pairs = this.#pairs(tape.cwd, request.cwd);
    const take = this.#next(tape, request, pairs);
    for (const batch of withArguments(take.batches, new TextMap(pairs.map(inJson)))) {
      await setImmediate(undefined, { signal });
      yield batch;
    }
  }

  #load(): Promise<Tape> {
    if (this.#tape === undefined) {
      const tape = readTape(this.#path);
      this.#tape = tape;
      tape.catch(() => {
        this.#tape = undefined;
      });
    }
    return this.#tape;
  }

  /** Recorded texts and what they are here. */
  #pairs(recordedCwd: string | undefined, cwd = process.cwd()): readonly Pair[] {
    const given = Object.entries(this.#map).map(([from, to]): Pair => [from, to.replaceAll('${cwd}', cwd)]);
    const isOpen = recordedCwd !== undefined && !isRoot(recordedCwd) && !(recordedCwd in this.#map);
    return isOpen ? [...given, [recordedCwd, cwd]] : given;
  }

  /** @throws LlmError `REPLAY_EXHAUSTED`, `REPLAY_MISMATCH`; the request counts in any case */
  #next({ takes }: Tape, { sessionId, messages }: ModelRequest, pairs: readonly Pair[]): Take {
    const { requests, known } = this.#cursors.get(sessionId) ?? { requests: 0, known: new Set() };
    this.#cursors.set(sessionId, { requests: requests + 1, known: new Set(messages.map(({ id }) => id)) });
    const what = `request ${requests + 1} of session "${sessionId}"`;
    const take = takes[requests];
    if (take === undefined) {
      const message = `${what}: the log ${this.#path} has no answer left (${takes.length} in all)`;
      throw new LlmError({ code: 'REPLAY_EXHAUSTED', message });
    }
    const difference = differenceTo(
      take,
      messages.filter(({ id }) => !known.has(id)),
      pairs,
    );
    if (difference === undefined) return take;
    const message = `${what} differs from the log ${this.#path} before event ${take.seq}: ${difference}`;
    throw new LlmError({ code: 'REPLAY_MISMATCH', message });
  }
}

type Pair = readonly [recorded: string, here: string];

async function readTape(path: string): Promise<Tape> {
  const cassette = new Cassette();
  let reading: LogReading;
  try {
    reading = await readSessionLog(path, (event) => cassette.add(event));
  } catch (thrown) {
    const message = `cannot replay the log ${path}: ${toError(thrown).message}`;
    throw new LlmError({ code: 'REPLAY_UNREADABLE', message }, { cause: thrown });
  }
  cassette.end();
  return { takes: cassette.takes, cwd: reading.header.cwd };
}

function differenceTo({ heard }: Take, asked: readonly Message[], pairs: readonly Pair[]): string | undefined {
  const [plain, json] = [new TextMap(pairs), new TextMap(pairs.map(inJson))];
  return firstDifference(asked, heard, (text, isJson) => (isJson ? json : plain).apply(text));
}

/** The batches with the arguments of every tool call mapped, which come in pieces. */
function withArguments(batches: Take['batches'], map: TextMap): Take['batches'] {
  const pieces = new Map<number, string[]>();
  for (const chunk of batches.flat()) {
    if (chunk.type !== 'tool-call-delta') continue;
    pieces.set(chunk.index, [...(pieces.get(chunk.index) ?? []), chunk.argumentsDelta]);
  }
  const mapped = new Map([...pieces].map(([index, texts]) => [index, map.applyAcross(texts).values()]));
  return batches.map((batch) =>
    batch.map((chunk) => {
      if (chunk.type === 'tool-call-delta') {
        return { ...chunk, argumentsDelta: mapped.get(chunk.index)?.next().value ?? '' };
      }
      if (chunk.type !== 'block-end' || chunk.block.type !== 'tool-call') return chunk;
      return { ...chunk, block: { ...chunk.block, arguments: map.apply(chunk.block.arguments) } };
    }),
  );
}

function inJson([from, to]: Pair): Pair {
  return [JSON.stringify(from).slice(1, -1), JSON.stringify(to).slice(1, -1)];
}

function isRoot(path: string): boolean {
  return /^([A-Za-z]:)?[\\/]*$/.test(path);
}
