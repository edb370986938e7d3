import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { expect } from 'chai';
import { spy } from 'sinon';
import { Deferred } from '../../../src/base/index.js';
import { proxyAgent } from '../../../src/model/chat-completions/proxies.js';
import type { StreamChunk } from '../../../src/protocol/index.js';
import { DeepSeekServer } from '../../support/deepseek-server.js';
import { collect, finishOf, said } from '../../support/model-request.js';
import { ProxyServer } from '../../support/proxy-server.js';
import { TEST_CERTIFICATE_FILE, testCertificate } from '../../support/test-certificate.js';
import { useDeepSeek } from '../deepseek/deepseek-fixture.js';

function failureOf(chunks: readonly StreamChunk[]): { readonly code: string; readonly message: string } {
  const { failure } = finishOf(chunks) as { failure?: { code: string; message: string } };
  if (failure === undefined) throw new Error(`it did not fail: ${said(chunks)}`);
  return failure;
}

describe('connections of chat completions', () => {
  const deepseek = useDeepSeek();
  const { call, caller } = deepseek;
  let tls: DeepSeekServer;
  let proxy: ProxyServer;
  beforeEach(async () => {
    tls = await DeepSeekServer.startTls(testCertificate());
    proxy = await ProxyServer.start();
  });
  afterEach(async () => {
    await deepseek.scope.close();
    await tls.stop();
    await proxy.stop();
  });

  describe('a connection that takes too long', () => {
    /** Accepts connections and says nothing. */
    let mute: Server;
    let base: string;
    const sockets: Socket[] = [];
    beforeEach(async () => {
      mute = createServer((socket) => sockets.push(socket.on('error', () => undefined).resume()));
      await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
      const address = mute.address();
      base = `https://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/v1`;
    });
    afterEach(() => {
      for (const socket of sockets.splice(0)) socket.destroy();
      mute.close();
    });

    it('fails with TIMEOUT that names the API and its base, and is given up', async () => {
      const closed = new Deferred<void>();
      mute.once('connection', (socket: Socket) => socket.once('close', () => closed.resolve()));
      expect(failureOf(await collect(call({ baseURL: base, connectTimeoutMs: 50 })))).to.deep.equal({
        code: 'TIMEOUT',
        message: `connecting to the DeepSeek API at ${base} took longer than 50ms`,
      });
      await closed.promise;
    });

    it('fails with TIMEOUT when the proxy makes no tunnel, and the proxy is let go', async () => {
      process.env.HTTPS_PROXY = proxy.url;
      proxy.silent = true;
      expect(failureOf(await collect(call({ baseURL: tls.url, connectTimeoutMs: 50 })))).to.deep.equal({
        code: 'TIMEOUT',
        message: `connecting to the DeepSeek API at ${tls.url} through the proxy ${proxy.url} took longer than 50ms`,
      });
      await proxy.disconnected();
    });

    it('is no matter of what comes after the connection', async () => {
      for (const server of [deepseek.server, tls]) {
        process.env.SSL_CERT_FILE = TEST_CERTIFICATE_FILE;
        const held = new Deferred<void>();
        server.answer({ text: 'ok', hold: held.promise });
        const next = caller({ baseURL: server.url, connectTimeoutMs: 200 });
        const chunks = collect(next());
        await server.request(0);
        setTimeout(() => held.resolve(), 400);
        expect(said(await chunks)).to.equal('ok');
        server.answer({ text: 'kept', hold: new Promise((resolve) => setTimeout(resolve, 400)) });
        expect(said(await collect(next()))).to.equal('kept');
        expect(server.opened).to.equal(1);
      }
    });
  });

  describe('certificate authorities', () => {
    it('refuses a server that nobody vouches for', async () => {
      expect(failureOf(await collect(call({ baseURL: tls.url })))).to.deep.equal({
        code: 'TRANSPORT',
        message: `DeepSeek API request to ${tls.url} failed: self-signed certificate`,
      });
      expect(tls.requests).to.have.length(0);
    });

    it('trusts those of SSL_CERT_FILE', async () => {
      process.env.SSL_CERT_FILE = TEST_CERTIFICATE_FILE;
      tls.answer({ text: 'ok' }, { text: 'again' });
      const next = caller({ baseURL: tls.url });
      expect(said(await collect(next()))).to.equal('ok');
      await (await tls.request(0)).closed;
      expect(said(await collect(next()))).to.equal('again');
      expect(tls.opened).to.equal(1);
    });

    it('trusts those of Node and of NODE_EXTRA_CA_CERTS beside them', async () => {
      const dir = mkdtempSync(join(tmpdir(), 'dsh-test-'));
      const extra = process.env.NODE_EXTRA_CA_CERTS;
      try {
        process.env.SSL_CERT_FILE = join(dir, 'other.pem');
        writeFileSync(process.env.SSL_CERT_FILE, rootCertificates[0] ?? '');
        process.env.NODE_EXTRA_CA_CERTS = TEST_CERTIFICATE_FILE;
        const contexts = spy(process.getBuiltinModule('node:tls'), 'createSecureContext');
        tls.answer({ text: 'ok' });
        expect(said(await collect(call({ baseURL: tls.url })))).to.equal('ok');
        expect(contexts.args[0]?.[0]?.ca).to.include.members([...rootCertificates]);
      } finally {
        if (extra === undefined) delete process.env.NODE_EXTRA_CA_CERTS;
        else process.env.NODE_EXTRA_CA_CERTS = extra;
        rmSync(dir, { recursive: true });
      }
    });

    it('names a file that cannot be read, or holds none', async () => {
      const dir = mkdtempSync(join(tmpdir(), 'dsh-test-'));
      try {
        process.env.SSL_CERT_FILE = join(dir, 'none.pem');
        const missing = failureOf(await collect(call({ baseURL: tls.url })));
        expect(missing.code).to.equal('INVALID_CERTIFICATES');
        expect(missing.message).to.equal(
          `the file ${join(dir, 'none.pem')} that SSL_CERT_FILE names cannot be read: ENOENT`,
        );
        process.env.SSL_CERT_FILE = join(dir, 'empty.pem');
        writeFileSync(process.env.SSL_CERT_FILE, 'nothing');
        expect(failureOf(await collect(call({ baseURL: tls.url }))).message).to.match(/holds no PEM certificate$/);
      } finally {
        rmSync(dir, { recursive: true });
      }
    });
  });

  describe('a proxy', () => {
    const secret = 'pass%3Aword';
    const basic = `Basic ${Buffer.from('user:pass:word').toString('base64')}`;
    let authorized: string;
    beforeEach(() => {
      process.env.SSL_CERT_FILE = TEST_CERTIFICATE_FILE;
      authorized = `http://user:${secret}@127.0.0.1:${proxy.port}`;
    });

    for (const name of ['HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy']) {
      it(`of ${name} tunnels https, with its credentials, over one connection`, async () => {
        process.env[name] = authorized;
        tls.answer({ text: 'one' }, { text: 'two' });
        const next = caller({ baseURL: tls.url });
        expect(said(await collect(next()))).to.equal('one');
        await (await tls.request(0)).closed;
        expect(said(await collect(next()))).to.equal('two');
        const line = `CONNECT ${tls.url.replace('https://', '')}`;
        expect(proxy.requests).to.deep.equal([{ line, authorization: basic }]);
        expect(tls.requests[0]?.headers).not.to.have.property('proxy-authorization');
      });
    }

    for (const name of ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY']) {
      it(`of ${name} forwards http`, async () => {
        process.env[name] = authorized;
        deepseek.server.answer({ text: 'one' }, { text: 'two' });
        const next = caller();
        expect(said(await collect(next()))).to.equal('one');
        expect(said(await collect(next()))).to.equal('two');
        const line = `POST ${deepseek.server.url}/chat/completions`;
        expect(proxy.requests).to.deep.equal([
          { line, authorization: basic },
          { line, authorization: basic },
        ]);
      });
    }

    it('resolves the name of the API, which this machine need not know', async () => {
      process.env.HTTPS_PROXY = proxy.url;
      tls.answer({ text: 'ok' });
      const baseURL = tls.url.replace('127.0.0.1', 'model.test');
      expect(said(await collect(call({ baseURL })))).to.equal('ok');
      expect(proxy.requests[0]).to.deep.equal({
        line: `CONNECT ${baseURL.replace('https://', '')}`,
        authorization: undefined,
      });
    });

    for (const name of ['NO_PROXY', 'no_proxy']) {
      it(`is passed by for the hosts of ${name}`, async () => {
        process.env.HTTP_PROXY = proxy.url;
        process.env.HTTPS_PROXY = proxy.url;
        process.env[name] = 'example.com, 127.0.0.1';
        deepseek.server.answer({ text: 'http' });
        tls.answer({ text: 'https' });
        expect(said(await collect(call()))).to.equal('http');
        expect(said(await collect(call({ baseURL: tls.url })))).to.equal('https');
        expect(proxy.requests).to.deep.equal([]);
      });
    }

    it('of the other scheme is none', async () => {
      process.env.HTTPS_PROXY = proxy.url;
      deepseek.server.answer({ text: 'ok' });
      expect(said(await collect(call()))).to.equal('ok');
      expect(proxy.requests).to.deep.equal([]);
    });

    it('that refuses is named with its status, without credentials', async () => {
      process.env.HTTPS_PROXY = authorized;
      proxy.refuse = 407;
      expect(failureOf(await collect(call({ baseURL: tls.url })))).to.deep.equal({
        code: 'TRANSPORT',
        message: `DeepSeek API request to ${tls.url} through the proxy ${proxy.url} failed: the proxy answered with HTTP 407`,
      });
      await proxy.disconnected();
      process.env.HTTP_PROXY = authorized;
      expect(failureOf(await collect(call()))).to.have.property('code', 'HTTP_407');
    });

    it('that is not there is named, without credentials', async () => {
      const { url, port } = proxy;
      await proxy.stop();
      for (const [name, baseURL] of [
        ['HTTPS_PROXY', tls.url],
        ['HTTP_PROXY', deepseek.server.url],
      ] as const) {
        process.env[name] = authorized;
        const { code, message } = failureOf(await collect(call({ baseURL })));
        expect(code).to.equal('TRANSPORT');
        expect(message).to.equal(
          `DeepSeek API request to ${baseURL} through the proxy ${url} failed: connect ECONNREFUSED 127.0.0.1:${port}`,
        );
      }
      proxy = await ProxyServer.start();
    });

    for (const value of [`socks5://user:${secret}@127.0.0.1:1080`, `http://user:${secret}@:x`]) {
      it(`that is no http URL is refused, without its value: ${value.slice(0, 6)}`, async () => {
        process.env.HTTPS_PROXY = value;
        expect(failureOf(await collect(call({ baseURL: tls.url })))).to.deep.equal({
          code: 'INVALID_PROXY',
          message: 'the proxy for https must be an http or https URL: look at HTTPS_PROXY and ALL_PROXY',
        });
      });
    }

    for (const [how, end, code] of [
      ['aborted', (abort: AbortController) => abort.abort(), 'ABORTED'],
      ['closed', () => deepseek.scope.close(), 'TRANSPORT'],
    ] as const) {
      it(`is let go when the call is ${how} before there is a tunnel`, async () => {
        process.env.HTTPS_PROXY = proxy.url;
        proxy.silent = true;
        const abort = new AbortController();
        const chunks = collect(call({ baseURL: tls.url }, { signal: abort.signal }));
        await proxy.request(0);
        await end(abort);
        expect(failureOf(await chunks).code).to.equal(code);
        await proxy.disconnected();
      });
    }

    it('is known to its agent without credentials, which print it under DEBUG', () => {
      for (const target of ['https://api.example', 'http://api.example']) {
        const agent = proxyAgent(new URL(authorized), new URL(target), {});
        expect(String((agent as unknown as { readonly proxy: URL }).proxy)).to.equal(`${proxy.url}/`);
        agent.destroy();
      }
    });

    it('may itself speak TLS', async () => {
      const secure = await DeepSeekServer.startTls(testCertificate());
      process.env.HTTP_PROXY = secure.url;
      secure.answer({ text: 'forwarded' });
      expect(said(await collect(call()))).to.equal('forwarded');
      expect(secure.requests[0]?.path).to.equal(`${deepseek.server.url}/chat/completions`);
      await deepseek.scope.close();
      await secure.stop();
    });
  });
});
