import { expect } from 'chai';
import { CodedError, describeError, errorCode, headOf, toError } from '../../src/base/index.js';

describe('errors', () => {
  it('describes an error with its causes, outermost first, without repeats', () => {
    const deep = new Error('disk full');
    const middle = new CodedError('STORE_FAILED', 'cannot write', { cause: deep });
    expect(describeError(new Error('turn failed', { cause: middle }))).to.equal('turn failed: cannot write: disk full');
    expect(describeError(new Error('same', { cause: new Error('same') }))).to.equal('same');
    expect(describeError('a string')).to.equal('a string');
  });

  it('ends on a cause that is its own cause', () => {
    const loop = new Error('loop');
    loop.cause = loop;
    expect(describeError(loop)).to.equal('loop');
  });

  it('names a coded error as its class says and reads any string code', () => {
    class OwnError extends CodedError {
      override readonly name = 'OwnError';
    }
    expect(new CodedError('X', 'm').name).to.equal('CodedError');
    expect(new OwnError('X', 'm').name).to.equal('OwnError');
    expect(errorCode(new OwnError('X', 'm'))).to.equal('X');
    expect(errorCode({ code: 7 })).to.equal(undefined);
    expect(errorCode(undefined)).to.equal(undefined);
    expect(toError(7).message).to.equal('7');
  });
});

describe('headOf', () => {
  const cases: readonly [string, number, string][] = [
    ['abc', 3, 'abc'],
    ['abcd', 3, 'abc'],
    ['ab🔥', 3, 'ab'],
    ['ab🔥c', 4, 'ab🔥'],
    ['🔥', 1, ''],
  ];
  for (const [text, limit, head] of cases) {
    it(`cuts ${JSON.stringify(text)} at ${limit} to ${JSON.stringify(head)} (A8)`, () => {
      expect(headOf(text, limit)).to.equal(head);
      expect(headOf(text, limit).isWellFormed()).to.equal(true);
    });
  }
});
