import { expect } from 'chai';
import { useFakeTimers } from 'sinon';
import { abortable } from '../../../src/tools/editor/abortable.js';
import { rejectionOf } from '../../support/rejection-of.js';

describe('abortable', () => {
  const never = new Promise<string>(() => undefined);

  it('gives what the work gives, also when it ends after the abort', async () => {
    const controller = new AbortController();
    expect(await abortable(Promise.resolve('a'), controller.signal)).to.equal('a');
    const work = Promise.resolve().then(() => 'b');
    controller.abort(new Error('stop'));
    expect(await abortable(work, controller.signal)).to.equal('b');
    expect(
      (await rejectionOf(abortable(Promise.reject(new Error('own')), controller.signal))) as Error,
    ).to.have.property('message', 'own');
  });

  for (const when of ['before', 'while'] as const) {
    it(`gives up after a grace on work that never ends, aborted ${when} it is waited for`, async () => {
      const clock = useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      const controller = new AbortController();
      const reason = new Error('stop');
      if (when === 'before') controller.abort(reason);
      const rejected = rejectionOf(abortable(never, controller.signal));
      controller.abort(reason);
      await clock.tickAsync(1_000);
      expect(await rejected).to.equal(reason);
      expect(clock.countTimers()).to.equal(0);
    });
  }
});
