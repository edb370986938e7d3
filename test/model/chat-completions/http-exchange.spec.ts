import { expect } from 'chai';
import { HttpClient } from '../../../src/model/chat-completions/http-client.js';
import type { HttpExchange } from '../../../src/model/chat-completions/http-exchange.js';
import { DeepSeekServer } from '../../support/deepseek-server.js';

const NEVER_MS = 2 ** 31 - 1;

describe('HttpExchange', () => {
  let server: DeepSeekServer;
  let client: HttpClient;

  beforeEach(async () => {
    server = await DeepSeekServer.start();
    client = new HttpClient('DeepSeek');
  });
  afterEach(async () => {
    client.close();
    await server.stop();
  });

  function post(): Promise<HttpExchange> {
    const { signal } = new AbortController();
    const limits = { idleTimeoutMs: NEVER_MS, connectTimeoutMs: NEVER_MS };
    return client.post(new URL(server.url), {}, '{}', { signal, ...limits, base: server.url });
  }
  async function readAll(exchange: HttpExchange): Promise<string> {
    let text = '';
    for (let pieces = await exchange.read(); pieces !== undefined; pieces = await exchange.read()) {
      text += Buffer.concat([...pieces]).toString();
    }
    return text;
  }
  function* drips(): Iterable<string | Promise<unknown>> {
    while (server.connections > 0) {
      yield 'x';
      yield new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  for (const [what, answer, idleMs, totalMs] of [
    ['is silent', { raw: ['x'], ending: 'stall' }, 50, NEVER_MS],
    ['drips on', { raw: drips() }, NEVER_MS, 200],
  ] as const) {
    it(`gives up on a body that is in a hurry and ${what}`, async () => {
      server.answer(answer);
      const exchange = await post();
      await exchange.head();
      exchange.hurry(idleMs, totalMs);
      const failure = await readAll(exchange).catch((thrown: unknown) => thrown);
      expect(failure).to.have.property('code', 'TIMEOUT');
      await server.disconnected();
      exchange.close();
    });
  }

  it('reads a body that hurries to its end', async () => {
    server.answer({ text: 'hello' });
    const exchange = await post();
    await exchange.head();
    exchange.hurry(NEVER_MS, NEVER_MS);
    expect(await readAll(exchange)).to.include('hello');
    exchange.close();
  });
});
