import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync, closeSync, readFileSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { JsonObject } from '../../src/protocol/index.js';
import type { FakeScript, Sighting, Step } from './fake-runtime-script.js';

/**
 * A program that behaves as its script says, at the other end of a client: `node fake-runtime.js SCRIPT RECORD`.
 * SCRIPT is a file with the JSON of a {@link FakeScript}, RECORD one that gets a line for everything seen.
 */
const [, , scriptFile = '', record = '', ...args] = process.argv;
const script = JSON.parse(readFileSync(scriptFile, 'utf8')) as FakeScript;

interface Request {
  readonly id: string;
  readonly method: string;
  readonly params: JsonObject;
}

const defaults: Readonly<Record<string, readonly (readonly Step[])[]>> = {
  initialize: [[{ do: 'reply', result: { serverInfo: { name: 'deepseek-harness-sdk-runtime', version: '0.0.1' } } }]],
  shutdown: [
    [
      { do: 'reply', result: {} },
      { do: 'exit', code: 0 },
    ],
  ],
};
const notFound: readonly Step[] = [{ do: 'respond', members: { error: { code: -32601, message: 'no such method' } } }];
const served = new Map<string, number>();
const nextSeq = new Map<string, number>();

function saw(sighting: Sighting): void {
  appendFileSync(record, `${JSON.stringify(sighting)}\n`);
}

function write(stream: Writable, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => stream.write(bytes, () => resolve()));
}

function send(frame: object): Promise<void> {
  return write(process.stdout, Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', ...frame })}\n`));
}

async function perform(step: Step, request: Request | undefined): Promise<void> {
  switch (step.do) {
    case 'write': {
      const bytes = Buffer.from(step.text);
      const size = step.chunkBytes ?? bytes.length;
      for (let round = 0; round < (step.repeat ?? 1); round++) {
        for (let at = 0; at < bytes.length; at += size) {
          await write(step.to === 'stderr' ? process.stderr : process.stdout, bytes.subarray(at, at + size));
          if (step.gapMs !== undefined) await delay(step.gapMs);
        }
      }
      return;
    }
    case 'reply':
      return send({ id: request?.id, result: step.result });
    case 'respond':
      return send({ id: request?.id, ...step.members });
    case 'notify':
      return send({ method: step.method, params: step.params });
    case 'event': {
      const sessionId = step.sessionId ?? String(request?.params.sessionId);
      const seq = nextSeq.get(sessionId) ?? 0;
      nextSeq.set(sessionId, seq + 1);
      const event = { type: step.type, seq, time: Date.now(), data: step.data };
      return send({ method: 'session.event', params: { sessionId, event } });
    }
    case 'delay':
      return delay(step.ms);
    case 'hang':
      return new Promise(() => undefined);
    case 'close':
      // `process.stdout` refuses to be destroyed.
      if (step.stream === 'stdout') closeSync(1);
      else process.stdin.destroy();
      return nextTurn();
    case 'spawn': {
      const { tie = 'environment', holdsStdout = false } = step;
      const how = tie === 'environment' ? { detached: true } : { env: {} };
      const child = spawn('sleep', ['1000'], {
        ...how,
        stdio: ['ignore', holdsStdout ? 'inherit' : 'ignore', 'ignore'],
      });
      child.unref();
      return saw({ saw: 'spawned', pid: child.pid ?? 0, tie });
    }
    case 'exit':
      return process.exit(step.code);
    case 'kill':
      process.kill(process.pid, step.signal);
      return new Promise(() => undefined);
  }
}

/** Fills in what the request says. */
function fill(steps: readonly Step[], { params }: Request): readonly Step[] {
  const [block] = (params.contentBlocks ?? []) as readonly { readonly text?: string }[];
  const values: Record<string, unknown> = {
    sessionId: params.sessionId,
    text: block?.text ?? '',
    messageId: randomUUID(),
  };
  const json = JSON.stringify(steps).replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
    return JSON.stringify(String(values[name])).slice(1, -1);
  });
  return JSON.parse(json) as readonly Step[];
}

async function serve(request: Request): Promise<void> {
  const { method, params } = request;
  saw({ saw: 'request', method, params });
  const lists = script.on?.[method] ?? defaults[method] ?? [notFound];
  const turn = served.get(method) ?? 0;
  served.set(method, turn + 1);
  const steps = lists[Math.min(turn, lists.length - 1)] ?? [];
  for (const step of fill(steps, request)) await perform(step, request);
}

async function readRequests(): Promise<void> {
  let open = '';
  process.stdin.setEncoding('utf8');
  process.stdin.on('error', () => undefined);
  process.stdin.on('data', (text: string) => {
    const lines = (open + text).split('\n');
    open = lines.pop() ?? '';
    for (const line of lines) void serve(JSON.parse(line) as Request);
  });
  process.stdin.once('end', () => {
    saw({ saw: 'eof' });
    if (script.onEof !== 'ignore') process.exit(0);
  });
}

const { onTerm } = script;
if (onTerm !== undefined) {
  process.on('SIGTERM', () => {
    saw({ saw: 'SIGTERM' });
    if (onTerm !== 'ignore') process.exit(onTerm.exit);
  });
}
// Whatever the script leaves out, the process does not end by itself.
setInterval(() => undefined, 60_000);
const env = { ...process.env } as Record<string, string>;
saw({ saw: 'start', pid: process.pid, args, cwd: process.cwd(), env });
for (const step of script.boot ?? []) await perform(step, undefined);
await readRequests();
