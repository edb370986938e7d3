const NAMES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'].flatMap((name) => [name, name.toLowerCase()]);

/**
 * Takes what steers model calls out of the environment: proxies, certificates, DeepSeek's endpoint.
 *
 * @returns puts it back
 */
export function withoutProxies(): () => void {
  const saved = new Map<string, string | undefined>();
  for (const name of [...NAMES, 'SSL_CERT_FILE', 'DEEPSEEK_BASE_URL']) {
    saved.set(name, process.env[name]);
    delete process.env[name];
  }
  return () => {
    for (const [name, value] of saved) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
}
