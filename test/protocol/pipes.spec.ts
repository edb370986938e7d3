import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { expect } from 'chai';
import { JsonRpcLineTransport, type JsonRpcTransportOptions } from '../../src/protocol/index.js';
import { rejectionOf } from '../support/rejection-of.js';
import { until } from '../support/transport-rig.js';

const PROTOCOL = new URL('../../src/protocol/index.js', import.meta.url).href;
/** What a child needs to be a peer on its stdio; `process.send` tells the test how it stands. */
const PEER = `
  import { JsonRpcLineTransport } from ${JSON.stringify(PROTOCOL)};
  const peer = new JsonRpcLineTransport(process.stdin, process.stdout, { maxFrameBytes: 64 * 1024 * 1024 });
  void peer.closed.then(() => process.disconnect());
`;

interface Peer {
  readonly child: ChildProcess;
  readonly transport: JsonRpcLineTransport;
  readonly stdin: Writable;
  readonly stdout: Readable;
}

describe('JsonRpcLineTransport over the pipes of a child process', () => {
  const peers: Peer[] = [];
  afterEach(async () => {
    for (const { child, transport } of peers.splice(0)) {
      transport.close();
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  });

  function spawnPeer(script: string, options?: JsonRpcTransportOptions): Peer {
    const args = ['--input-type=module', '--eval', script];
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit', 'ipc'] });
    const { stdin, stdout } = child as { stdin: Writable; stdout: Readable };
    const peer = { child, stdin, stdout, transport: new JsonRpcLineTransport(stdout, stdin, options) };
    peers.push(peer);
    return peer;
  }

  it('carries requests and notifications both ways', async () => {
    const { transport } = spawnPeer(`${PEER}
      peer.onRequest(async (method, params) => ({ method, asked: await peer.request('ask back', params) }));
      peer.start();
    `);
    transport.onRequest((method, params) => ({ method, ...params }));
    transport.start();
    const answers = await Promise.all([1, 2, 3].map((n) => transport.request('ask', { n, text: '台🔥' })));
    expect(answers).to.deep.equal(
      [1, 2, 3].map((n) => ({ method: 'ask', asked: { method: 'ask back', n, text: '台🔥' } })),
    );
  });

  for (const megabytes of [1, 10]) {
    it(`carries a frame of ${megabytes} MB there and back (A4)`, async () => {
      const { transport } = spawnPeer(`${PEER} peer.onRequest((method, params) => params); peer.start();`);
      transport.start();
      const text = 'é'.repeat(megabytes * 512 * 1024);
      const answer = (await transport.request('echo', { text })) as { text: string };
      expect(answer.text === text).to.equal(true);
    }).timeout(30_000);
  }

  it('holds back while the peer does not read, and delivers all once it does', async () => {
    const { child, transport, stdin } = spawnPeer(
      `${PEER}
      let count = 0;
      peer.onNotification(() => { count += 1; });
      peer.onRequest(() => count);
      process.once('message', () => peer.start());
      process.send('ready');
    `,
      { highWaterMark: 1_000_000 },
    );
    transport.start();
    await once(child, 'message');
    const params = { text: 'x'.repeat(1000) };
    const waits: Promise<void>[] = [];
    let sent = 0;
    // Yielding lets the pipe and the stream in front of it take what they can.
    for (; waits.length === 0; sent += 1) {
      const wait = transport.notify('n', params);
      if (wait !== undefined) waits.push(wait);
      if (sent % 100 === 0) await new Promise(setImmediate);
    }
    expect(stdin.writableLength).to.be.below(200_000);
    child.send('go');
    await waits[0];
    expect(await transport.request('count')).to.equal(sent);
  });

  it('rejects what is pending when the peer closes its end of the pipe, without an uncaught error (B1, J12)', async () => {
    const { transport, child } = spawnPeer(`
      import { closeSync } from 'node:fs';
      closeSync(0);
      process.on('message', () => process.exit());
      process.send('deaf');
    `);
    transport.start();
    await once(child, 'message');
    const failures = [transport.request('prompt', { text: 'x'.repeat(5 * 1024 * 1024) }), transport.request('b')];
    const errors = await Promise.all(failures.map((failure) => rejectionOf(failure)));
    for (const error of errors) expect(error).to.have.property('code').that.is.oneOf(['EPIPE', 'ECONNRESET']);
    expect(await transport.closed).to.equal(errors[0]);
    expect(await rejectionOf(transport.flush())).to.equal(errors[0]);
    expect(transport.notify('nobody')).to.equal(undefined);
    child.send('go');
    await once(child, 'exit');
  });

  it('rejects what is pending when the peer dies in the middle of a large write (B1)', async () => {
    const { transport, child } = spawnPeer(`process.stdin.once('data', () => process.kill(process.pid, 'SIGKILL'));`);
    transport.start();
    const failures = [transport.request('prompt', { text: 'x'.repeat(5 * 1024 * 1024) }), transport.request('b')];
    const exited = once(child, 'exit');
    for (const error of await Promise.all(failures.map((failure) => rejectionOf(failure)))) {
      expect(error).to.be.instanceOf(Error);
    }
    await transport.closed;
    await exited;
  });

  it('survives the EPIPE of a write that was under way when it was closed (B1)', async () => {
    const { transport, child, stdin } = spawnPeer(`
      import { closeSync } from 'node:fs';
      process.on('message', () => closeSync(0));
      process.send('deaf');
    `);
    transport.start();
    await once(child, 'message');
    const request = rejectionOf(transport.request('prompt', { text: 'x'.repeat(5 * 1024 * 1024) }));
    await until(() => stdin.writableLength > 0);
    transport.close();
    expect((await request).message).to.equal('JSON-RPC transport closed');
    child.send('close your stdin');
    await new Promise((resolve) => stdin.once('close', resolve));
    expect(stdin.errored).to.have.property('code').that.is.oneOf(['EPIPE', 'ECONNRESET']);
  });

  it('hears the last answer and all events of a peer that exited, while it is written to (B5)', async () => {
    const { transport, child } = spawnPeer(`${PEER}
      peer.onRequest(() => {
        for (let n = 0; n < 500; n += 1) peer.notify('event', { n, text: 'x'.repeat(200) });
        void peer.flush().then(() => process.stdout.write('{"method":"last"}', () => process.exit()));
        return 'answer';
      });
      peer.start();
    `);
    const heard: string[] = [];
    let over = false;
    transport.onNotification((method) => void heard.push(method));
    transport.start();
    void transport.closed.then(() => {
      over = true;
    });
    const answer = transport.request('ask');
    await once(child, 'exit');
    transport.notify('to nobody', { text: 'x'.repeat(100_000) });
    await until(() => over);
    expect(await answer).to.equal('answer');
    expect(heard).to.have.length(501);
    expect(heard.at(-1)).to.equal('last');
  });
});
