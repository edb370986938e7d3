import { expect } from 'chai';
import fc from 'fast-check';
import { HeadCollector } from '../../../src/tools/shell/head-collector.js';

describe('HeadCollector', () => {
  it('gives the same head as decoding everything would, however the bytes are cut (A8)', () => {
    const text = fc
      .array(fc.oneof(fc.string({ unit: 'binary' }), fc.constant('\n'), fc.constant('🔥')))
      .map((a) => a.join(''));
    const bytes = fc.oneof(
      text.map((t) => Buffer.from(t)),
      fc.uint8Array().map((a) => Buffer.from(a)),
    );
    fc.assert(
      fc.property(bytes, fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 7 }), (all, maxChars, step) => {
        const collector = new HeadCollector(maxChars);
        for (let at = 0; at < all.length; at += step) collector.push(all.subarray(at, at + step));
        const whole = all.toString('utf8').replace(/\n$/, '');
        const { text: head, clipped } = collector.read();
        expect(whole.startsWith(head)).to.equal(true);
        expect(head.isWellFormed()).to.equal(true);
        expect(clipped).to.equal(whole.length > maxChars);
        expect(head.length).to.be.within(Math.min(whole.length, maxChars - 1), maxChars);
        expect(collector.totalBytes).to.equal(all.length);
      }),
    );
  });
});
