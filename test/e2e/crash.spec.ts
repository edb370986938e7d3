import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { isEvent, type SessionEvent } from '../../src/protocol/index.js';
import { Lab } from '../support/lab.js';
import type { RawRuntime } from '../support/raw-runtime.js';

const LIVES_A_SESSION = 10;
const SESSIONS = 20;

/** Numbers from 0 to 1, the same for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed * 2_654_435_761;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32;
  };
}

/** Kills the runtime as soon as it has sent so many frames of its turn, or after its turn if those are fewer. */
async function killAfter(runtime: RawRuntime, frames: number): Promise<void> {
  const from = runtime.frames.length;
  const isOver = (): boolean =>
    runtime.frames.slice(from).some(({ method, params }) => method === 'session.status' && params.status === 'idle');
  while (runtime.frames.length < from + frames && !isOver()) await runtime.change();
  runtime.child.kill('SIGKILL');
  await runtime.ended;
}

/** What a log must never hold: gaps, a result before its call or twice, a turn or step that is opened within another. */
function problemsOf(events: readonly SessionEvent[]): string[] {
  const problems: string[] = [];
  const called = new Set<string>();
  const answered = new Set<string>();
  const started = new Set<string>();
  let turn = 0;
  let open = '';
  events.forEach((event, index) => {
    if (event.seq !== index) problems.push(`seq ${event.seq} stands at ${index}`);
    if (isEvent(event, 'turn/start')) {
      if (open !== '' || event.data.turn !== turn + 1)
        problems.push(`turn ${event.data.turn} starts after ${turn}, ${open}`);
      turn = event.data.turn;
      open = 'turn';
    } else if (isEvent(event, 'step/start')) {
      if (open !== 'turn') problems.push(`a step starts in ${open || 'nothing'}`);
      open = 'step';
    } else if (isEvent(event, 'step/end')) {
      if (open !== 'step') problems.push(`a step ends in ${open || 'nothing'}`);
      open = 'turn';
    } else if (isEvent(event, 'turn/end')) {
      if (open !== 'turn') problems.push(`a turn ends in ${open || 'nothing'}`);
      open = '';
    } else if (isEvent(event, 'assistant/message')) {
      for (const block of event.data.message.content) if (block.type === 'tool-call') called.add(block.id);
    } else if (isEvent(event, 'tool/call')) {
      started.add(event.data.callId);
    } else if (isEvent(event, 'tool/result')) {
      const { callId } = event.data.message.source;
      if (!called.has(callId)) problems.push(`result of ${callId} without its call`);
      if (!started.has(callId) && event.data.error?.code !== 'TOOL_NOT_STARTED')
        problems.push(`${callId} was not started`);
      if (answered.has(callId)) problems.push(`second result of ${callId}`);
      answered.add(callId);
    }
  });
  for (const id of called) if (!answered.has(id)) problems.push(`no result of ${id}`);
  if (open !== '') problems.push(`${open} is left open`);
  return problems;
}

describe('a runtime that is killed', () => {
  let lab: Lab;
  beforeEach(async () => {
    lab = await Lab.open();
    let calls = 0;
    lab.server.respond = ({ body }) => {
      if (body.messages.at(-1).role === 'tool') return { reasoning: 'seen', text: 'all of it is done', chunkSize: 3 };
      const toolCalls = ['echo one', 'echo two', 'echo three'].map((command) => ({
        id: `call-${calls++}`,
        name: 'bash',
        arguments: { command },
      }));
      return { text: 'I look', toolCalls, chunkSize: 4 };
    };
  });
  afterEach(() => lab.close());

  for (let session = 0; session < SESSIONS; session += 1) {
    it(`is continued ${LIVES_A_SESSION} times over with nothing lost, doubled or unpaired (J7, G6, G7), ${session}`, async () => {
      const random = randomFrom(session + 1);
      const received: SessionEvent[] = [];
      for (let life = 0; life < LIVES_A_SESSION; life += 1) {
        const runtime = await lab.initialized();
        runtime.write({
          jsonrpc: '2.0',
          id: 'prompt',
          method: 'session/prompt',
          params: { sessionId: 's', contentBlocks: [{ type: 'text', text: `go ${life}` }] },
        });
        await killAfter(runtime, 1 + Math.floor(random() * 90));
        received.push(...runtime.events);
      }
      const last = await lab.initialized();
      await last.prompt('s', 'finish');
      await last.idle('s');
      received.push(...last.events);

      const [log = ''] = await lab.logs();
      const stored = new Map((await readFile(log, 'utf8')).split('\n').map((line, index) => [index - 1, line]));
      const lost = received.filter((event) => stored.get(event.seq) !== JSON.stringify(event));
      expect(lost).to.deep.equal([]);
      await last.request('shutdown');
      await last.ended;
      const events = await lab.storedEvents();
      expect(problemsOf(events)).to.deep.equal([]);
      expect(events.findLast((event) => isEvent(event, 'turn/end'))?.data).to.deep.include({
        reason: { kind: 'completed' },
      });
      expect(unpairedIn(lab.server.requests.map(({ body }) => body.messages))).to.deep.equal([]);
    });
  }
});

interface WireMessage {
  readonly role: string;
  readonly tool_calls?: readonly { readonly id: string }[];
  readonly tool_call_id?: string;
}

/** Requests that the API would refuse: every call needs its result right after it, and no result stands alone. */
function unpairedIn(requests: readonly (readonly WireMessage[])[]): string[] {
  return requests.flatMap((messages, request) => {
    let due: string[] = [];
    const problems: string[] = [];
    for (const { role, tool_calls: calls = [], tool_call_id: id = '' } of messages) {
      if (role === 'tool') {
        if (!due.includes(id)) problems.push(`request ${request}: result of ${id} stands alone`);
        due = due.filter((one) => one !== id);
        continue;
      }
      if (due.length > 0) problems.push(`request ${request}: ${due} unanswered`);
      due = calls.map((call) => call.id);
    }
    if (due.length > 0) problems.push(`request ${request}: ${due} unanswered`);
    return problems;
  });
}
