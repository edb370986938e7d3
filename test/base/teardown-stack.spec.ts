import { expect } from 'chai';
import { Deferred, TeardownStack } from '../../src/base/index.js';

describe('TeardownStack', () => {
  it('undoes in reverse, one at a time', async () => {
    const stack = new TeardownStack();
    const log: string[] = [];
    const slow = new Deferred<void>();
    stack.defer('first', () => void log.push('first'));
    stack.defer('second', async () => {
      log.push('second begins');
      await slow.promise;
      log.push('second ends');
    });
    const closing = stack.close();
    expect(log).to.deep.equal(['second begins']);
    expect(stack.pending).to.deep.equal(['second', 'first']);
    slow.resolve();
    await closing;
    expect(log).to.deep.equal(['second begins', 'second ends', 'first']);
    expect(stack.pending).to.deep.equal([]);
  });

  it('goes on past failures and reports all of them by label', async () => {
    const stack = new TeardownStack();
    const log: string[] = [];
    stack.defer('a', () => void log.push('a'));
    stack.defer('b', () => {
      throw new Error('b broke');
    });
    stack.defer('c', () => Promise.reject(new Error('c broke')));
    const failure = await stack.close().then(
      () => undefined,
      (thrown: unknown) => thrown as AggregateError,
    );
    expect(log).to.deep.equal(['a']);
    expect(failure?.errors.map((error: Error) => error.message)).to.deep.equal([
      'teardown of c failed: c broke',
      'teardown of b failed: b broke',
    ]);
  });

  it('closes once, and gives every caller the same settlement', async () => {
    const stack = new TeardownStack();
    let runs = 0;
    stack.defer('only', () => {
      runs += 1;
    });
    expect(stack.close()).to.equal(stack.close());
    await stack.close();
    expect(runs).to.equal(1);
    expect(stack.closed).to.equal(true);
  });

  it('takes an entry back without running it', async () => {
    const stack = new TeardownStack();
    const log: string[] = [];
    const takeBack = stack.defer('kept out', () => void log.push('kept out'));
    stack.defer('kept in', () => void log.push('kept in'));
    takeBack();
    takeBack();
    await stack.close();
    expect(log).to.deep.equal(['kept in']);
  });

  it('runs what is deferred while it closes, and at once what is deferred afterwards', async () => {
    const stack = new TeardownStack();
    const log: string[] = [];
    stack.defer('outer', () => void stack.defer('inner', () => void log.push('inner')));
    await stack.close();
    expect(log).to.deep.equal(['inner']);
    const late = new Deferred<void>();
    stack.defer('late', () => late.resolve());
    await late.promise;
  });
});
