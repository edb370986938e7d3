import { createServer, type IncomingMessage, type Server, type ServerResponse, request as send } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

/** What a proxy was asked for. */
export interface ProxyRequest {
  /** `CONNECT host:port` or `POST http://host:port/path`. */
  readonly line: string;
  readonly authorization: string | undefined;
}

/**
 * A local proxy: tunnels for CONNECT, forwards everything else. Whatever name is asked for leads to this machine. With
 * `refuse` it answers with that status; a `silent` one never answers.
 */
export class ProxyServer {
  readonly requests: ProxyRequest[] = [];
  refuse: number | undefined;
  silent = false;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #waiting = new Set<() => void>();

  private constructor() {
    this.#server = createServer((request, response) => this.#forward(request, response));
    this.#server.on('connect', (request: IncomingMessage, socket: Socket) => this.#tunnel(request, socket));
    this.#server.on('connection', (socket) => this.#track(socket));
  }

  static async start(): Promise<ProxyServer> {
    const proxy = new ProxyServer();
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** The nth request, from 0, once it has arrived. */
  async request(index: number): Promise<ProxyRequest> {
    await this.#until(() => this.requests.length > index);
    return this.requests[index] as ProxyRequest;
  }

  /** Fulfils when no connection is open. */
  async disconnected(): Promise<void> {
    await this.#until(() => this.#sockets.size === 0);
  }

  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      this.#changed();
    });
  }

  #record({ method, url, headers }: IncomingMessage): void {
    this.requests.push({ line: `${method} ${url}`, authorization: headers['proxy-authorization'] });
    this.#changed();
  }

  #tunnel(request: IncomingMessage, socket: Socket): void {
    this.#record(request);
    // What is not read does not tell that its connection closed, and servers leave their half open.
    socket.resume().once('end', () => socket.end());
    if (this.silent) return;
    if (this.refuse !== undefined) {
      socket.end(`HTTP/1.1 ${this.refuse} Refused\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    const upstream = connect(Number(request.url?.split(':').at(-1)), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.pipe(upstream).pipe(socket);
    });
    upstream.on('error', () => socket.destroy());
    socket.once('close', () => upstream.destroy());
  }

  #forward(request: IncomingMessage, response: ServerResponse): void {
    this.#record(request);
    if (this.silent) return;
    if (this.refuse !== undefined) {
      response.writeHead(this.refuse).end();
      return;
    }
    const { port, pathname } = new URL(request.url ?? '');
    const { 'proxy-authorization': _, ...headers } = request.headers;
    const upstream = send({ host: '127.0.0.1', port, path: pathname, method: 'POST', headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    upstream.on('error', () => response.destroy());
    request.pipe(upstream);
  }

  async #until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  #changed(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }
}
