import { expect } from 'chai';
import { useFakeTimers } from 'sinon';
import { untilAborted } from '../../../src/tools/editor/until-aborted.js';
import { rejectionOf } from '../../support/rejection-of.js';

describe('untilAborted', () => {
  const never = new Promise<string>(() => undefined);

  it('gives what the work gives, also when it ends after the abort', async () => {
    const controller = new AbortController();
    expect(await untilAborted(controller.signal, Promise.resolve('a'))).to.equal('a');
    const work = Promise.resolve().then(() => 'b');
    controller.abort(new Error('stop'));
    expect(await untilAborted(controller.signal, work)).to.equal('b');
    expect(
      (await rejectionOf(untilAborted(controller.signal, Promise.reject(new Error('own'))))) as Error,
    ).to.have.property('message', 'own');
  });

  for (const when of ['before', 'while'] as const) {
    it(`gives up after a grace on work that never ends, aborted ${when} it is waited for`, async () => {
      const clock = useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      const controller = new AbortController();
      const reason = new Error('stop');
      if (when === 'before') controller.abort(reason);
      const rejected = rejectionOf(untilAborted(controller.signal, never));
      controller.abort(reason);
      await clock.tickAsync(100);
      expect(await rejected).to.equal(reason);
      expect(clock.countTimers()).to.equal(0);
    });
  }
});
