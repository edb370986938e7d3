import { expect } from 'chai';
import { type SinonFakeTimers, useFakeTimers } from 'sinon';
import { Deferred } from '../../src/base/index.js';
import { ClosingTurns } from '../../src/session/closing-turns.js';
import { rejectionOf } from '../support/rejection-of.js';

describe('ClosingTurns', () => {
  let clock: SinonFakeTimers;
  beforeEach(() => {
    clock = useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });
  afterEach(() => clock.restore());

  /** Asks for this many turns; each lasts until the test settles it. */
  function queued(turns: ClosingTurns, count: number) {
    const begun: boolean[] = [];
    const signals: AbortSignal[] = [];
    const ends = Array.from({ length: count }, () => new Deferred<void>());
    const closed = ends.map(({ promise }) =>
      turns.run((hurry) => {
        begun.push(hurry.aborted);
        signals.push(hurry);
        return promise;
      }),
    );
    return { begun, signals, ends, closed };
  }

  async function settled(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
  }

  it('lets four at a time take their time, in order', async () => {
    const { begun, ends, closed } = queued(new ClosingTurns(), 6);
    await settled();
    expect(begun).to.deep.equal([false, false, false, false]);
    ends[2]?.resolve();
    await settled();
    expect(begun).to.have.length(5);
    for (const end of ends) end.resolve();
    await Promise.all(closed);
    expect(begun).to.deep.equal(Array(6).fill(false));
    expect(clock.countTimers()).to.equal(0);
  });

  it('has all others hurry after 100 ms, though the first hang', async () => {
    const { begun, ends, closed } = queued(new ClosingTurns(), 20);
    clock.tick(99);
    await settled();
    expect(begun).to.have.length(4);
    clock.tick(1);
    await settled();
    expect(begun).to.deep.equal([...Array(4).fill(false), ...Array(16).fill(true)]);
    for (const end of ends) end.resolve();
    await Promise.all(closed);
  });

  it('tells those that are at it to hurry, too, and nobody of the next time', async () => {
    const turns = new ClosingTurns();
    const { signals, ends, closed } = queued(turns, 1);
    clock.tick(99);
    expect(signals[0]?.aborted).to.equal(false);
    clock.tick(1);
    expect(signals[0]?.aborted).to.equal(true);
    ends[0]?.resolve();
    await Promise.all(closed);
    const later = queued(turns, 1);
    expect(later.begun).to.deep.equal([false]);
    later.ends[0]?.resolve();
    await Promise.all(later.closed);
  });

  it('goes by the clock where a busy process fires no timers', async () => {
    clock.restore();
    clock = useFakeTimers({ toFake: ['performance'] });
    const { begun, ends, closed } = queued(new ClosingTurns(), 5);
    clock.tick(100);
    ends[0]?.resolve();
    await closed[0];
    await settled();
    expect(begun).to.deep.equal([false, false, false, false, true]);
    for (const end of ends) end.resolve();
    await Promise.all(closed);
  });

  it('begins anew when nothing is being closed any more', async () => {
    const turns = new ClosingTurns();
    const first = queued(turns, 1);
    clock.tick(500);
    const late = queued(turns, 1);
    await settled();
    expect(late.begun).to.deep.equal([true]);
    first.ends[0]?.resolve();
    late.ends[0]?.resolve();
    await Promise.all([...first.closed, ...late.closed]);
    const next = queued(turns, 1);
    expect(next.begun).to.deep.equal([false]);
    next.ends[0]?.resolve();
    await Promise.all(next.closed);
  });

  it('passes a failure on and gives the turn away all the same', async () => {
    const turns = new ClosingTurns();
    const { begun, ends, closed } = queued(turns, 5);
    ends[0]?.reject(new Error('EIO'));
    expect(await rejectionOf(closed[0] ?? Promise.resolve())).to.have.property('message', 'EIO');
    await settled();
    expect(begun).to.have.length(5);
    for (const end of ends.slice(1)) end.resolve();
    await Promise.all(closed.slice(1));
    expect(clock.countTimers()).to.equal(0);
  });
});
