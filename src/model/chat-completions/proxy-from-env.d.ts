declare module 'proxy-from-env' {
  /** The proxy that the environment names for a URL; the empty text when there is none. */
  export function getProxyForUrl(url: string): string;
}
