import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtBin } from '../test/support/lab.js';
import { RawRuntime } from '../test/support/raw-runtime.js';
import { cpuSeconds, type Figure, figure, peakMemory, repeat, report, timed } from './measure.js';

/** `npm run bench`: whole-process figures of `sdk-minimal` on this machine, as a table. */
const STARTS = 15;
const TURNS = 200;
const CHUNKS = 20_000;

/** Turns before the shell's session is changed: the history that each request carries stays short. */
const SHELL_TURNS = 20;

const home = await mkdtemp(join(tmpdir(), 'dsh-bench-'));
const modelServer = spawn(process.execPath, [join(import.meta.dirname, 'model-server.js')], {
  stdio: ['pipe', 'pipe', 'inherit'],
});
const [line] = (await once(modelServer.stdout, 'data')) as [Buffer];
const url = line.toString().trim();
const route = { cwd: home, provider: 'deepseek-official', model: 'deepseek-v4-flash' };
let sessions = 0;

function start(): RawRuntime {
  const env = { PATH: process.env.PATH ?? '', DSH_HOME: home, DEEPSEEK_API_KEY: 'bench', DEEPSEEK_BASE_URL: url };
  return RawRuntime.spawn([builtBin, '--profile', 'sdk-minimal'], env);
}

/** One prompt in a session until it is idle again. */
async function turn(runtime: RawRuntime, text: string, sessionId = `bench-${sessions++}`): Promise<void> {
  runtime.frames.length = 0;
  await runtime.prompt(sessionId, text);
  await runtime.idle(sessionId);
}

async function stop(runtime: RawRuntime): Promise<void> {
  await runtime.call('shutdown');
  await runtime.ended;
}

const agent = new http.Agent({ keepAlive: true });
/** The request of a text turn without a runtime around it. */
async function bareRequest(): Promise<void> {
  const body = JSON.stringify({ messages: [{ role: 'user', content: 'text' }] });
  const request = http.request(`${url}/chat/completions`, { agent, method: 'POST' }).end(body);
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  response.resume();
  await once(response, 'end');
}

/** What this machine is worth: the targets were set where this took 0.5 µs. */
function calibrate(): Figure {
  const params = {
    sessionId: 's',
    event: {
      type: 'assistant/chunk',
      seq: 1,
      time: 2,
      data: { turn: 1, step: 1, chunk: { type: 'text-delta', index: 1, text: ' hello' } },
    },
  };
  const frame = JSON.stringify({ jsonrpc: '2.0', method: 'session.event', params });
  const runs = Array.from({ length: 20 }, () => {
    const from = process.hrtime.bigint();
    for (let index = 0; index < 10_000; index += 1) JSON.parse(frame);
    return Number(process.hrtime.bigint() - from) / 1e7;
  });
  return figure('`JSON.parse` of one frame of 200 bytes', runs.slice(10), 'µs', '0.5 where the targets were set');
}

async function starts(): Promise<Figure[]> {
  const empty = await repeat(STARTS, () =>
    timed(() => once(spawn(process.execPath, ['-e', '0'], { env: { PATH: process.env.PATH ?? '' } }), 'close')),
  );
  const runs = await repeat(STARTS, async () => {
    const from = process.hrtime.bigint();
    const runtime = start();
    await runtime.request('initialize', route);
    const initialized = Number(process.hrtime.bigint() - from) / 1e6;
    const memory = peakMemory(runtime.child.pid as number);
    await turn(runtime, 'text');
    const first = Number(process.hrtime.bigint() - from) / 1e6;
    for (let index = 0; index < 20; index += 1) await turn(runtime, 'text');
    const later = peakMemory(runtime.child.pid as number);
    await stop(runtime);
    return { initialized, first, memory, later };
  });
  return [
    figure('an empty Node process', empty, 'ms'),
    figure(
      'start to `initialize` answered',
      runs.map(({ initialized }) => initialized),
      'ms',
      '≤ 85',
    ),
    figure(
      'start and first text turn together',
      runs.map(({ first }) => first),
      'ms',
      '≤ 110',
    ),
    figure(
      'peak memory at `initialize`',
      runs.map(({ memory }) => memory),
      'MB',
      '≤ 52',
    ),
    figure(
      'peak memory after 20 turns',
      runs.map(({ later }) => later),
      'MB',
      '≤ 62',
    ),
  ];
}

async function turns(): Promise<Figure[]> {
  const runtime = start();
  await runtime.request('initialize', route);
  const text: number[] = [];
  const bare: number[] = [];
  const shell: number[] = [];
  const firstShells = await repeat(5, (index) => timed(() => turn(runtime, 'shell', `first-${index}`)), 0);
  for (let index = -SHELL_TURNS; index < TURNS; index += 1) {
    const shellSession = `shell-${Math.floor(index / SHELL_TURNS)}`;
    const isFirst = index % SHELL_TURNS === 0;
    const inBare = await timed(bareRequest);
    const inText = await timed(() => turn(runtime, 'text', `text-${index}`));
    const inShell = await timed(() => turn(runtime, 'shell', shellSession));
    if (index < 0) continue;
    bare.push(inBare);
    text.push(inText);
    if (!isFirst) shell.push(inShell);
  }
  const over = text.map((value, index) => value - (bare[index] ?? 0));
  const shutdown = await timed(() => stop(runtime));
  return [
    figure('a bare request to the same server', bare, 'ms'),
    figure('warm text turn, new session', text, 'ms', '≤ 1.2'),
    figure('… over the bare request', over, 'ms', '≤ 0.4'),
    figure('first shell turn of a session', firstShells, 'ms', '≤ 20'),
    figure('warm shell turn (two model calls)', shell, 'ms', '≤ 2.5'),
    figure('shutdown after the shell was used', [shutdown], 'ms', '≤ 200'),
  ];
}

async function floods(): Promise<Figure[]> {
  const runtime = start();
  await runtime.request('initialize', route);
  const pid = runtime.child.pid as number;
  const runs = await repeat(5, async () => {
    const before = cpuSeconds(pid);
    const took = await timed(() => turn(runtime, `stream ${CHUNKS}`));
    return { rate: (CHUNKS / took) * 1_000, cpu: cpuSeconds(pid) - before };
  });
  const big = await timed(() => turn(runtime, 'x'.repeat(20 * 1024 * 1024)));
  const memory = peakMemory(pid);
  await stop(runtime);
  return [
    figure(
      `answer of ${CHUNKS.toLocaleString('en')} chunks, log on disk`,
      runs.map(({ rate }) => rate),
      'events/s',
      '≥ 170,000',
    ),
    figure(
      '… the runtime’s processor time',
      runs.map(({ cpu }) => cpu),
      's CPU',
      '≤ 0.12',
    ),
    figure('prompt of 20 MB, to idle', [big], 'ms', '≤ 500'),
    figure('peak memory with it', [memory], 'MB', '≤ 200'),
  ];
}

try {
  const figures = [calibrate(), ...(await starts()), ...(await turns()), ...(await floods())];
  process.stdout.write(`Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}\n\n${report(figures)}\n`);
} finally {
  agent.destroy();
  modelServer.stdin.end();
  await rm(home, { recursive: true, force: true });
}
