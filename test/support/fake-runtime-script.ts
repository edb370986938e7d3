import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LaunchCommand } from '../../src/client/index.js';
import type { JsonObject, JsonValue, TokenUsage, TurnEndReason } from '../../src/protocol/index.js';

/**
 * One thing that the fake runtime does. In texts and JSON of a step that serves a request, `{{sessionId}}` and
 * `{{text}}` (its first block's) come from the request, `{{messageId}}` is new for each request.
 */
export type Step =
  /** `gapMs` between the chunks makes them arrive one by one. */
  | {
      readonly do: 'write';
      readonly text: string;
      readonly to?: 'stderr';
      readonly chunkBytes?: number;
      readonly gapMs?: number;
      readonly repeat?: number;
    }
  | { readonly do: 'reply'; readonly result: JsonValue }
  | { readonly do: 'respond'; readonly members: JsonObject }
  | { readonly do: 'notify'; readonly method: string; readonly params: JsonObject }
  /** A `session.event` with the next seq of its session; default: the request's. */
  | { readonly do: 'event'; readonly type: string; readonly data: JsonValue; readonly sessionId?: string }
  | { readonly do: 'delay'; readonly ms: number }
  | { readonly do: 'hang' }
  | { readonly do: 'close'; readonly stream: 'stdin' | 'stdout' }
  /** A process that never ends by itself; its pid is recorded. */
  | { readonly do: 'spawn'; readonly tie?: Tie; readonly holdsStdout?: boolean }
  | { readonly do: 'exit'; readonly code: number }
  | { readonly do: 'kill'; readonly signal: NodeJS.Signals };

/**
 * The one thing by which a spawned process can be told to be the runtime's: what it inherited in its environment, in a
 * group of its own (default), or the runtime's process group, its environment emptied.
 */
export type Tie = 'environment' | 'group';

export interface FakeScript {
  /** Before anything is read. */
  readonly boot?: readonly Step[];
  /**
   * What each request of a method leads to: the first list for the first request, and so on; the last one repeats.
   * `initialize` and `shutdown` are served properly by default, other methods are not found.
   */
  readonly on?: Readonly<Record<string, readonly (readonly Step[])[]>>;
  /** Default: exit 0. */
  readonly onEof?: 'ignore';
  /** Default: the signal ends the process. */
  readonly onTerm?: 'ignore' | { readonly exit: number };
}

/** What a fake runtime saw, in order. */
export type Sighting =
  | {
      readonly saw: 'start';
      readonly pid: number;
      readonly args: readonly string[];
      readonly cwd: string;
      readonly env: Readonly<Record<string, string>>;
    }
  | { readonly saw: 'request'; readonly method: string; readonly params: JsonObject }
  | { readonly saw: 'spawned'; readonly pid: number; readonly tie: Tie }
  | { readonly saw: 'eof' }
  | { readonly saw: 'SIGTERM' };

/** A script ready to be launched, and what its processes saw. Call `remove` at the end. */
export interface FakeRuntime {
  readonly launch: LaunchCommand;
  /** The same as a `dshBin`, which takes a profile and patches and does not mind them. */
  readonly bin: string;
  sightings(): readonly Sighting[];
  of<S extends Sighting['saw']>(saw: S): readonly Extract<Sighting, { saw: S }>[];
  params(method: string): readonly JsonObject[];
  remove(): void;
}

export function fakeRuntime(script: FakeScript = {}): FakeRuntime {
  const directory = mkdtempSync(join(tmpdir(), 'dsh-fake-runtime-'));
  const record = join(directory, 'sightings.jsonl');
  const scriptFile = join(directory, 'script.json');
  writeFileSync(scriptFile, JSON.stringify(script));
  const program = fileURLToPath(new URL('./fake-runtime.js', import.meta.url));
  const bin = join(directory, 'dsh.mjs');
  writeFileSync(
    bin,
    `process.argv.splice(2, 0, ...${JSON.stringify([scriptFile, record])});\nawait import(${JSON.stringify(program)});\n`,
  );
  const sightings = (): Sighting[] => {
    try {
      const lines = readFileSync(record, 'utf8').split('\n').slice(0, -1);
      return lines.map((line) => JSON.parse(line) as Sighting);
    } catch {
      return [];
    }
  };
  const of = <S extends Sighting['saw']>(saw: S) =>
    sightings().filter((sighting): sighting is Extract<Sighting, { saw: S }> => sighting.saw === saw);
  return {
    launch: { command: process.execPath, args: [program, scriptFile, record] },
    bin,
    sightings,
    of,
    params: (method) => of('request').flatMap((request) => (request.method === method ? [request.params] : [])),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

export const write = (text: string, how: { chunkBytes?: number; gapMs?: number; repeat?: number } = {}): Step => ({
  do: 'write',
  text,
  ...how,
});
export const writeError = (text: string, how: { chunkBytes?: number; gapMs?: number; repeat?: number } = {}): Step => ({
  do: 'write',
  to: 'stderr',
  text,
  ...how,
});
export const reply = (result: JsonValue): Step => ({ do: 'reply', result });
export const replyError = (error: JsonValue): Step => ({ do: 'respond', members: { error } });
export const notify = (method: string, params: JsonObject): Step => ({ do: 'notify', method, params });
export const event = (type: string, data: JsonValue, sessionId?: string): Step => ({
  do: 'event',
  type,
  data,
  ...(sessionId !== undefined && { sessionId }),
});
export const status = (value: 'running' | 'idle', sessionId = '{{sessionId}}'): Step =>
  notify('session.status', { sessionId, status: value });
export const hang: Step = { do: 'hang' };
export const exit = (code: number): Step => ({ do: 'exit', code });
export const kill = (signal: NodeJS.Signals): Step => ({ do: 'kill', signal });
export const receipt: Step = reply({ messageId: '{{messageId}}' });
export const serverInfo = { serverInfo: { name: 'deepseek-harness-sdk-runtime', version: '0.0.1' } } as const;

const userMessage = {
  id: '{{messageId}}',
  role: 'user',
  content: [{ type: 'text', text: '{{text}}' }],
  source: { kind: 'user' },
} as const;

/** The prompt enters the inbox. */
export const inserted = (start = 0): Step =>
  event('agent/inbox/spliced', { target: 'next-turn', start, inserted: [userMessage] });
/** The first prompt leaves the inbox. */
export const claimed: Step = event('agent/inbox/spliced', {
  target: 'next-turn',
  start: 0,
  removedCount: 1,
  inserted: [],
});

export interface TurnSpec {
  readonly turn?: number;
  readonly reason?: TurnEndReason;
  readonly usage?: TokenUsage;
  readonly content?: readonly JsonObject[];
}

/** A turn from its start to its end: one step, one answer in text deltas of a word. */
export function turn(
  text: string,
  { turn: number = 1, reason = { kind: 'completed' }, usage, content }: TurnSpec = {},
): Step[] {
  const at = { turn: number, step: 1 };
  const chunk = (data: JsonObject): Step => event('assistant/chunk', { ...at, chunk: data });
  const message = {
    id: `answer-${number}`,
    role: 'assistant',
    content: content ?? [{ type: 'text', text }],
    source: { kind: 'model', provider: 'deepseek-official', model: 'deepseek-v4-flash' },
  };
  return [
    event('turn/start', { turn: number }),
    claimed,
    event('step/start', at),
    event('user/message', userMessage),
    event('request/context', { provider: 'deepseek-official', model: 'deepseek-v4-flash' }),
    chunk({ type: 'block-start', index: 0, blockType: 'text' }),
    ...(text.match(/\S+\s*/g) ?? []).map((word) => chunk({ type: 'text-delta', index: 0, text: word })),
    chunk({ type: 'block-end', index: 0, block: { type: 'text', text } }),
    ...(usage === undefined ? [] : [chunk({ type: 'usage', usage: { ...usage } })]),
    chunk({ type: 'finish', reason: { kind: 'stop' } }),
    event('assistant/message', { ...at, message, ...(usage !== undefined && { usage: { ...usage } }) }),
    event('step/end', at),
    event('turn/end', { turn: number, reason: reason as unknown as JsonObject }),
  ];
}

/** All that a prompt to an idle session leads to. */
export function textRun(text: string, spec: TurnSpec = {}): Step[] {
  return [inserted(), status('running'), receipt, ...turn(text, spec), status('idle')];
}
