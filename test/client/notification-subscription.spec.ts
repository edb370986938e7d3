import { expect } from 'chai';
import fc from 'fast-check';
import { TransportClosedError } from '../../src/client/index.js';
import { NotificationHub } from '../../src/client/notification-hub.js';
import type { HarnessNotification } from '../../src/protocol/index.js';
import { rejectionOf } from '../support/rejection-of.js';

const statusOf = (sessionId: string): HarnessNotification => ({
  method: 'session.status',
  params: { sessionId, status: 'running' },
});
const started = (parentSessionId: string, childSessionId: string): HarnessNotification => ({
  method: 'subagent.started',
  params: { parentSessionId, childSessionId },
});
const finished = (parentSessionId: string, childSessionId: string): HarnessNotification => ({
  method: 'subagent.finished',
  params: {
    provider: 'spawn',
    agentId: childSessionId,
    parentSessionId,
    childSessionId,
    status: 'ok',
    stopReason: 'completed',
  },
});

function drain(subscription: { tryNext(): HarnessNotification | undefined }): HarnessNotification[] {
  const all: HarnessNotification[] = [];
  for (let item = subscription.tryNext(); item !== undefined; item = subscription.tryNext()) all.push(item);
  return all;
}

describe('NotificationSubscription', () => {
  it('hands out what was pushed, in order, however reads and writes interleave', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 300 }), (writes) => {
        const hub = new NotificationHub();
        const subscription = hub.subscribe();
        const read: HarnessNotification[] = [];
        let written = 0;
        for (const isWrite of writes) {
          if (isWrite) hub.dispatch(statusOf(`s-${written++}`));
          else read.push(...[subscription.tryNext()].filter((item) => item !== undefined));
        }
        read.push(...drain(subscription));
        expect(read).to.deep.equal(Array.from({ length: written }, (_, at) => statusOf(`s-${at}`)));
      }),
    );
  });

  it('serves waiters in the order they came', async () => {
    const hub = new NotificationHub();
    const subscription = hub.subscribe();
    const waiting = [subscription.next(), subscription.next()];
    hub.dispatch(statusOf('first'));
    hub.dispatch(statusOf('second'));
    expect(await Promise.all(waiting)).to.deep.equal([statusOf('first'), statusOf('second')]);
  });

  it('keeps what is queued readable after the end, then fails', async () => {
    const hub = new NotificationHub();
    const subscription = hub.subscribe();
    hub.dispatch(statusOf('last words'));
    const end = new Error('gone');
    hub.end(end);
    hub.dispatch(statusOf('too late'));
    expect(await subscription.next()).to.deep.equal(statusOf('last words'));
    expect(subscription.tryNext()).to.equal(undefined);
    expect(await rejectionOf(subscription.next())).to.equal(end);
    expect(subscription.failure).to.equal(end);
  });

  it('is born failed after the end', async () => {
    const hub = new NotificationHub();
    const end = new Error('gone');
    hub.end(end);
    for (const subscription of [hub.subscribe(), hub.subscribeTree('s')]) {
      expect(await rejectionOf(subscription.next())).to.equal(end);
    }
  });

  it('close drops the queue and rejects the waiters; twice is once', async () => {
    const hub = new NotificationHub();
    const [full, empty] = [hub.subscribe(), hub.subscribe(() => false)];
    hub.dispatch(statusOf('s'));
    const waiting = rejectionOf(empty.next());
    for (const subscription of [full, empty, full]) subscription.close();
    expect(full.tryNext()).to.equal(undefined);
    expect(await waiting)
      .to.be.instanceOf(TransportClosedError)
      .with.property('message', 'notification subscription closed');
    expect(await rejectionOf(full.next())).to.be.instanceOf(TransportClosedError);
  });

  it('iterates to the failure, and leaving the loop closes it', async () => {
    const hub = new NotificationHub();
    const [left, failed] = [hub.subscribe(), hub.subscribe()];
    for (const id of ['a', 'b', 'c']) hub.dispatch(statusOf(id));
    for await (const _ of left) break;
    expect(left.failure).to.be.instanceOf(TransportClosedError);

    hub.end(new Error('gone'));
    const seen: HarnessNotification[] = [];
    const loop = (async () => {
      for await (const notification of failed) seen.push(notification);
    })();
    expect(await rejectionOf(loop)).to.have.property('message', 'gone');
    expect(seen).to.have.length(3);
  });

  it('a filter that throws ends its own subscription only', async () => {
    const hub = new NotificationHub();
    const thrown = new Error('bad filter');
    const broken = hub.subscribe(() => {
      throw thrown;
    });
    const odd = hub.subscribe(({ params }) => 'sessionId' in params && params.sessionId === 'odd');
    for (const id of ['odd', 'even', 'odd']) hub.dispatch(statusOf(id));
    expect(await rejectionOf(broken.next())).to.equal(thrown);
    expect(drain(odd)).to.deep.equal([statusOf('odd'), statusOf('odd')]);
  });
});

describe('session trees', () => {
  it('take in the root and its descendants at any depth, and no one else', () => {
    const hub = new NotificationHub();
    const tree = hub.subscribeTree('root');
    const wanted = [
      statusOf('root'),
      started('root', 'child'),
      started('child', 'grandchild'),
      statusOf('grandchild'),
      finished('child', 'grandchild'),
      statusOf('grandchild'),
    ];
    const foreign = [statusOf('other'), started('other', 'stranger'), statusOf('stranger')];
    for (const notification of [...wanted.slice(0, 3), ...foreign, ...wanted.slice(3)]) hub.dispatch(notification);
    expect(drain(tree)).to.deep.equal(wanted);
  });

  it('hear once of a subagent whose child is the root itself', () => {
    const hub = new NotificationHub();
    const [tree, both] = [hub.subscribeTree('child'), hub.subscribeTree('parent')];
    hub.dispatch(started('parent', 'child'));
    hub.dispatch(finished('parent', 'child'));
    expect(drain(tree)).to.have.length(2);
    expect(drain(both)).to.have.length(2);
  });

  it('know lineage from before the subscription; the last parent wins', () => {
    const hub = new NotificationHub();
    hub.dispatch(started('a', 'child'));
    hub.dispatch(started('b', 'child'));
    const [a, b] = [hub.subscribeTree('a'), hub.subscribeTree('b')];
    hub.dispatch(statusOf('child'));
    expect([drain(a), drain(b)]).to.deep.equal([[], [statusOf('child')]]);
  });

  it('ignore empty, malformed and self edges, and survive a circle and odd names', () => {
    const hub = new NotificationHub();
    const tree = hub.subscribeTree('__proto__');
    const odd = [started('x', 'x'), started('', 'y'), started('x', ''), { method: 'subagent.started', params: {} }];
    for (const notification of odd) hub.dispatch(notification as HarnessNotification);
    hub.dispatch(started('__proto__', 'constructor'));
    hub.dispatch(started('constructor', '__proto__'));
    hub.dispatch(statusOf('constructor'));
    hub.dispatch({ method: 'session.event', params: {} } as unknown as HarnessNotification);
    expect(drain(tree)).to.deep.equal([
      started('__proto__', 'constructor'),
      started('constructor', '__proto__'),
      statusOf('constructor'),
    ]);
  });
});
