import type * as http from 'node:http';
import type { SecureContext } from 'node:tls';
import { LlmError } from '../errors.js';
import { extraTrust } from './extra-trust.js';
import { HttpExchange, type HttpExchangeOptions } from './http-exchange.js';

/** Costs milliseconds to load, which a start need not wait for; loaded by the first call, or ahead of it. */
export function httpModule({ protocol }: URL): Pick<typeof http, 'Agent' | 'request'> {
  return process.getBuiltinModule(protocol === 'https:' ? 'node:https' : 'node:http');
}

/** How requests for one origin leave this machine. */
interface Way {
  readonly agent: http.Agent;
  /** The proxy without its credentials; undefined when there is none. */
  readonly proxy?: string;
  /** Whom TLS trusts; undefined: whom Node does. */
  readonly secureContext?: SecureContext;
}

/**
 * POSTs over kept-alive connections, through the proxies and with the certificate authorities that the environment
 * names (decision 30). It owns its exchanges and connections: `close()` ends them, those in use too.
 */
export class HttpClient {
  readonly #name: string;
  readonly #ways = new Map<string, Way>();
  readonly #exchanges = new Set<HttpExchange>();
  #closed = false;

  /** @param name the provider, as messages name it */
  constructor(name: string) {
    this.#name = name;
  }

  /**
   * Sends at once; failures are told by the exchange.
   *
   * @throws LlmError `TRANSPORT` after `close()`; `INVALID_PROXY`, `INVALID_CERTIFICATES` for a bad environment
   */
  async post(
    url: URL,
    headers: http.OutgoingHttpHeaders,
    body: string,
    options: Omit<HttpExchangeOptions, 'name' | 'proxy'>,
  ): Promise<HttpExchange> {
    const way = await this.#wayTo(url);
    const exchange: HttpExchange = new HttpExchange(
      (fresh, dialSignal) => this.#open(url, headers, way, fresh, dialSignal),
      body,
      { ...options, name: this.#name, ...(way.proxy !== undefined && { proxy: way.proxy }) },
      () => this.#exchanges.delete(exchange),
    );
    this.#exchanges.add(exchange);
    return exchange;
  }

  /** Idempotent. */
  close(): void {
    this.#closed = true;
    for (const exchange of this.#exchanges) exchange.fail(this.#closedError());
    for (const { agent } of this.#ways.values()) agent.destroy();
    this.#ways.clear();
  }

  #open(
    url: URL,
    headers: http.OutgoingHttpHeaders,
    { agent, secureContext }: Way,
    fresh: boolean,
    dialSignal: AbortSignal,
  ): http.ClientRequest {
    if (this.#closed) throw this.#closedError();
    // Where one idle connection turned out dead, the others are likely to be.
    if (fresh) for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy();
    const options = { method: 'POST', agent, headers, dialSignal, ...(secureContext && { secureContext }) };
    return httpModule(url).request(url, options);
  }

  async #wayTo(url: URL): Promise<Way> {
    // Loaded only where a proxy may apply.
    const proxies = isProxied(url) ? await import('./proxies.js') : undefined;
    const proxy = proxies?.proxyOf(url);
    const key = JSON.stringify([url.protocol, proxy?.href, process.env.SSL_CERT_FILE]);
    const known = this.#ways.get(key);
    if (known !== undefined) return known;
    const trust = url.protocol === 'https:' || proxy?.protocol === 'https:' ? extraTrust() : {};
    const way: Way =
      proxies === undefined || proxy === undefined
        ? { agent: new (httpModule(url).Agent)({ keepAlive: true }), ...trust }
        : { agent: proxies.proxyAgent(proxy, url, trust), proxy: proxy.origin, ...trust };
    if (!this.#closed) this.#ways.set(key, way);
    return way;
  }

  #closedError(): LlmError {
    return new LlmError({ code: 'TRANSPORT', message: `the ${this.#name} adapter is closed` });
  }
}

/** Whether the environment names any proxy for this kind of URL; what `NO_PROXY` exempts is judged later. */
function isProxied({ protocol }: URL): boolean {
  const names = [`${protocol.slice(0, -1)}_proxy`, 'all_proxy'];
  return names.some((name) => process.env[name] || process.env[name.toUpperCase()]);
}
