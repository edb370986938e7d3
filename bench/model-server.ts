import { DeepSeekServer, DONE, delta } from '../test/support/deepseek-server.js';

/** A model server in a process of its own, so that its work is not measured as ours. Prints its URL, ends with stdin. */
const server = await DeepSeekServer.start();
server.respond = ({ body }) => {
  const last = body.messages.at(-1);
  const prompt = String(last.content);
  if (last.role !== 'tool' && prompt.startsWith('shell')) {
    return { toolCalls: [{ name: 'bash', arguments: { command: 'echo hi' } }] };
  }
  const chunks = /^stream (\d+)$/.exec(prompt)?.[1];
  if (chunks !== undefined) return { raw: stream(Number(chunks)) };
  return { text: 'The answer is four, as it was before.', chunkSize: 4 };
};

/** Deltas in writes of 16 KiB, as a fast provider's proxy sends them. */
function* stream(chunks: number): Generator<string> {
  const one = delta({ content: 'word ' });
  const perWrite = Math.ceil(16_384 / one.length);
  for (let sent = 0; sent < chunks; sent += perWrite) yield one.repeat(Math.min(perWrite, chunks - sent));
  yield DONE;
}

process.stdout.write(`${server.url}\n`);
process.stdin.on('end', () => void server.stop()).resume();
