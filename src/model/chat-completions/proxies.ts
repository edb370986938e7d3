import type { Agent, ClientRequest } from 'node:http';
import type { SecureContext } from 'node:tls';
import { HttpProxyAgent } from 'http-proxy-agent';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { getProxyForUrl } from 'proxy-from-env';
import { LlmError } from '../errors.js';

/**
 * The proxy that the environment names for a URL: `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, but for the hosts of
 * `NO_PROXY`; in lower case too, which comes first.
 *
 * @throws LlmError `INVALID_PROXY`, without the value: it may hold a password
 */
export function proxyOf(url: URL): URL | undefined {
  const text = getProxyForUrl(url.href);
  if (text === '') return undefined;
  const proxy = URL.canParse(text) ? new URL(text) : undefined;
  if (proxy?.protocol === 'http:' || proxy?.protocol === 'https:') return proxy;
  const scheme = url.protocol.slice(0, -1);
  throw new LlmError({
    code: 'INVALID_PROXY',
    message: `the proxy for ${scheme} must be an http or https URL: look at ${scheme.toUpperCase()}_PROXY and ALL_PROXY`,
  });
}

/** Kept-alive connections to `target` through `proxy`: a tunnel for https, a forwarding proxy for http. */
export function proxyAgent(proxy: URL, target: URL, trust: { readonly secureContext?: SecureContext }): Agent {
  // Under DEBUG the agents print their URL, but not their headers.
  const bare = new URL(proxy.origin);
  const options = { keepAlive: true, headers: authorization(proxy), ...trust };
  return target.protocol === 'https:'
    ? abandonable(new HttpsProxyAgent(bare, options))
    : abandonable(new HttpProxyAgent(bare, options));
}

function authorization({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const credentials = `${decode(username)}:${decode(password)}`;
  return { 'Proxy-Authorization': `Basic ${Buffer.from(credentials).toString('base64')}` };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** An agent as the ones used here are; their `connect` reads `connectOpts` before it first waits. */
interface Dialler extends Agent {
  connectOpts: object;
  connect(request: ClientRequest, options: object): unknown;
}

/**
 * Lets a request take its `dialSignal` to the connection that is made for it. Until the proxy has answered, that
 * connection is known to nobody else, and would outlive a request that was given up.
 */
function abandonable<A extends Dialler>(agent: A): A {
  const connect = agent.connect.bind(agent);
  const plain = agent.connectOpts;
  agent.connect = (request, options: { readonly dialSignal?: AbortSignal }) => {
    agent.connectOpts = { ...plain, signal: options.dialSignal };
    return connect(request, options);
  };
  return agent;
}
