import { expect } from 'chai';
import { createMemoryTransportPair, FrameTooLargeError } from '../../src/protocol/index.js';
import { rejectionOf } from '../support/rejection-of.js';
import { turns } from '../support/transport-rig.js';

describe('createMemoryTransportPair', () => {
  it('carries requests and notifications both ways, in order and never synchronously', async () => {
    const [a, b] = createMemoryTransportPair();
    const order: unknown[] = [];
    for (const end of [a, b]) {
      end.onRequest((method, params) => ({ method, ...params }));
      end.onNotification((method, params) => void order.push([method, params]));
      end.start();
    }
    for (let n = 0; n < 1000; n += 1) void a.notify('n', { n, text: '台🔥\u2028\n' });
    const answers = Promise.all([a.request('from a', { x: 1 }), b.request('from b')]);
    expect(order).to.deep.equal([]);
    expect(await answers).to.deep.equal([{ method: 'from a', x: 1 }, { method: 'from b' }]);
    expect(order).to.deep.equal(Array.from({ length: 1000 }, (_, n) => ['n', { n, text: '台🔥\u2028\n' }]));
    a.close();
  });

  it('hands over copies, not the same objects', async () => {
    const [a, b] = createMemoryTransportPair();
    const sent = { list: [1], gone: undefined };
    const received = new Promise<unknown>((resolve) => b.onNotification((_method, params) => resolve(params)));
    b.start();
    void a.notify('n', sent);
    sent.list.push(2);
    expect(await received).to.deep.equal({ list: [1] });
    a.close();
  });

  it('ends the other end with "JSON-RPC input closed" after what was sent before', async () => {
    const [a, b] = createMemoryTransportPair({ beforeWrite: () => turns() });
    const heard: string[] = [];
    b.onNotification((method) => void heard.push(method));
    b.start();
    a.start();
    const pending = rejectionOf(b.request('never answered'));
    const own = rejectionOf(a.request('never answered'));
    void a.notify('bye');
    a.close();
    expect((await own).message).to.equal('JSON-RPC transport closed');
    expect((await pending).message).to.equal('JSON-RPC input closed');
    expect(heard).to.deep.equal(['bye']);
    expect(await Promise.all([a.closed, b.closed])).to.deep.equal([undefined, undefined]);
    void b.notify('to nobody', { text: 'x'.repeat(1_000_000) });
    await b.flush();
    b.close();
  });

  it('keeps frames for an end that is not started yet', async () => {
    const [a, b] = createMemoryTransportPair();
    b.onRequest(() => 'late but here');
    a.start();
    const answer = a.request('ask', { text: 'x'.repeat(1_000_000) });
    await turns();
    b.start();
    expect(await answer).to.equal('late but here');
    b.close();
  });

  it('takes options for each end', async () => {
    const [a, b] = createMemoryTransportPair({ maxFrameBytes: 100 }, { maxFrameBytes: 10_000 });
    b.onRequest(() => 'x'.repeat(1000));
    a.start();
    b.start();
    expect(await rejectionOf(a.request('ask', { text: 'x'.repeat(1000) }))).to.be.instanceOf(FrameTooLargeError);
    a.close();
  });
});
