import { expect } from 'chai';
import { Emitter } from '../../src/base/index.js';

describe('Emitter', () => {
  it('contains a listener that throws and still calls its siblings', () => {
    const failures: unknown[] = [];
    const heard: number[] = [];
    const emitter = new Emitter<number>((thrown) => failures.push(thrown));
    emitter.on(() => {
      throw new Error('listener');
    });
    emitter.on((value) => heard.push(value));
    emitter.emit(1);
    expect(heard).to.deep.equal([1]);
    expect(failures).to.have.length(1);
  });

  it('lets one function subscribe twice and each subscription end on its own', () => {
    const heard: number[] = [];
    const emitter = new Emitter<number>(() => undefined);
    const listener = (value: number): void => void heard.push(value);
    const off = emitter.on(listener);
    emitter.on(listener);
    emitter.emit(1);
    off();
    off();
    emitter.emit(2);
    expect(heard).to.deep.equal([1, 1, 2]);
  });
});
