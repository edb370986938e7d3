import { expect } from 'chai';
import fc from 'fast-check';
import { StderrTail } from '../../src/client/stderr-tail.js';

function tailOf(bytes: Buffer, cuts: readonly number[], tail = new StderrTail()): readonly string[] {
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  for (let i = 1; i < at.length; i++) tail.push(bytes.subarray(at[i - 1], at[i]));
  return tail.lines;
}

describe('StderrTail', () => {
  it('decodes each line once, wherever the bytes are cut (A1)', () => {
    const text = '台 and 🔥\u2028 stay whole\r\n\n  \nlast 台, unterminated';
    fc.assert(
      fc.property(fc.array(fc.nat()), (cuts) => {
        expect(tailOf(Buffer.from(text), cuts)).to.deep.equal(['台 and 🔥\u2028 stay whole', 'last 台, unterminated']);
      }),
    );
  });

  it('keeps the last 400 lines, the unterminated one among them', () => {
    const text = Array.from({ length: 1000 }, (_, at) => `line ${at}`).join('\n');
    const lines = tailOf(Buffer.from(text), []);
    expect(lines).to.have.length(400);
    expect([lines[0], lines[399]]).to.deep.equal(['line 600', 'line 999']);
  });

  it('keeps the end of a line that is too long, without half a character (B3)', () => {
    fc.assert(
      fc.property(fc.nat(40), fc.array(fc.nat()), (fill, cuts) => {
        const text = `${'a'.repeat(fill)}${'台'.repeat(20)}`;
        const [line = ''] = tailOf(Buffer.from(text), cuts, new StderrTail(400, 32));
        expect(line).to.equal(`…${'台'.repeat(10)}`);
      }),
    );
  });

  it('starts afresh after a long line', () => {
    const tail = new StderrTail(400, 8);
    tail.push(Buffer.from('0123456789\nshort\n'));
    expect(tail.lines).to.deep.equal(['…23456789', 'short']);
  });

  it('puts a note on a line of its own', () => {
    const tail = new StderrTail();
    tail.push(Buffer.from('half a li'));
    tail.note('shutdown request failed');
    tail.push(Buffer.from('ne\n'));
    expect(tail.lines).to.deep.equal(['half a li', 'shutdown request failed', 'ne']);
  });

  it('tells a listener each line once, as it is kept, but no notes', () => {
    fc.assert(
      fc.property(fc.array(fc.nat()), (cuts) => {
        const tail = new StderrTail(2, 16);
        const heard: string[] = [];
        tail.listen((line) => heard.push(line));
        tailOf(Buffer.from('  台 🔥\r\n\n \nlonger than it may be\nthree\nopen'), cuts, tail);
        expect(heard).to.deep.equal(['  台 🔥', '…r than it may be', 'three']);
        tail.note('ours');
        tail.end();
        tail.end();
        expect(heard.slice(3)).to.deep.equal(['open']);
        expect(tail.lines).to.deep.equal(['open', 'ours']);
      }),
    );
  });
});
