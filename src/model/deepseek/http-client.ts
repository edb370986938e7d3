import type * as http from 'node:http';
import { LlmError } from '../errors.js';
import { HttpExchange, type HttpExchangeOptions } from './http-exchange.js';

/** Costs milliseconds to load, which a start need not wait for; loaded by the first call, or ahead of it. */
export function httpModule({ protocol }: URL): Pick<typeof http, 'Agent' | 'request'> {
  return process.getBuiltinModule(protocol === 'https:' ? 'node:https' : 'node:http');
}

/** POSTs over kept-alive connections, which it owns: `close()` ends them, those in use too. */
export class HttpClient {
  readonly #agents = new Map<string, http.Agent>();
  #closed = false;

  /**
   * Sends at once; failures are told by the exchange.
   *
   * @throws LlmError `TRANSPORT` after `close()`
   */
  post(url: URL, headers: http.OutgoingHttpHeaders, body: string, options: HttpExchangeOptions): HttpExchange {
    return new HttpExchange((fresh) => this.#open(url, headers, fresh), body, options);
  }

  /** Idempotent. */
  close(): void {
    this.#closed = true;
    for (const agent of this.#agents.values()) agent.destroy();
    this.#agents.clear();
  }

  #open(url: URL, headers: http.OutgoingHttpHeaders, fresh: boolean): http.ClientRequest {
    if (this.#closed) throw new LlmError({ code: 'TRANSPORT', message: 'the DeepSeek adapter is closed' });
    const { Agent, request } = httpModule(url);
    let agent = this.#agents.get(url.protocol);
    if (agent === undefined) {
      agent = new Agent({ keepAlive: true });
      this.#agents.set(url.protocol, agent);
    }
    // Where one idle connection turned out dead, the others are likely to be.
    if (fresh) for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy();
    return request(url, { method: 'POST', agent, headers });
  }
}
