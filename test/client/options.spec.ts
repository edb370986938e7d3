import { expect } from 'chai';
import {
  DeepSeekHarness,
  type DeepSeekHarnessOptions,
  HarnessClient,
  type HarnessSession,
  type RunInput,
} from '../../src/client/index.js';
import { rejectionOf } from '../support/rejection-of.js';

/** What JavaScript may pass where TypeScript would not. */
const untyped = (value: unknown): never => value as never;

describe('options', () => {
  const texts = ['dshBin', 'profile', 'dshHome', 'processCwd', 'cwd', 'provider', 'model', 'reasoningEffort'];
  const times = ['initializeTimeoutMs', 'requestTimeoutMs', 'shutdownTimeoutMs', 'disposeEofGraceMs', 'disposeGraceMs'];
  const callbacks = ['onDiagnostic', 'onStderr'];
  const wrong: readonly [unknown, string][] = [
    ['x', 'options must be an object; got a string'],
    [null, 'options must be an object; got null'],
    [[], 'options must be an object; got an array'],
    [{ provder: 'x' }, 'options.provder is unknown: there is no such option'],
    [{ constructor: 1 }, 'options.constructor is unknown: there is no such option'],
    ...texts.flatMap((name): [unknown, string][] => [
      [{ [name]: 7 }, `options.${name} must be a non-blank string; got 7`],
      [{ [name]: ' \t' }, `options.${name} must be a non-blank string; got " \\t"`],
      [{ [name]: null }, `options.${name} must be a non-blank string; got null`],
    ]),
    ...times.flatMap((name): [unknown, string][] => [
      [{ [name]: -1 }, `options.${name} must be a number of milliseconds, 0 or more; got -1`],
      [{ [name]: Number.NaN }, `options.${name} must be a number of milliseconds, 0 or more; got NaN`],
      [{ [name]: '5' }, `options.${name} must be a number of milliseconds, 0 or more; got "5"`],
    ]),
    ...callbacks.map((name): [unknown, string] => [
      { [name]: {} },
      `options.${name} must be a function; got an object`,
    ]),
    ...[0, 1.5, 2 ** 53, '9'].map((maxTokens): [unknown, string] => [
      { maxTokens },
      `options.maxTokens must be a positive safe integer; got ${JSON.stringify(maxTokens)}`,
    ]),
    [{ maxFrameBytes: 0 }, 'options.maxFrameBytes must be a positive number of bytes; got 0'],
    [{ maxFrameBytes: 5n }, 'options.maxFrameBytes must be a positive number of bytes; got a bigint'],
    [{ patches: 'a.yml' }, 'options.patches must be an array of non-blank strings; got "a.yml"'],
    [{ patches: ['a.yml', 1] }, 'options.patches[1] must be a non-blank string; got 1'],
    [{ launch: 'node' }, 'options.launch must be an object; got a string'],
    [{ launch: {} }, 'options.launch.command must be a non-blank string; got undefined'],
    [{ launch: { command: '' } }, 'options.launch.command must be a non-blank string; got ""'],
    [{ launch: { command: 'node', args: 'x' } }, 'options.launch.args must be an array of strings; got "x"'],
    [{ launch: { command: 'node', args: ['', true] } }, 'options.launch.args[1] must be a string; got true'],
    [{ launch: { command: 'node', argv: [] } }, 'options.launch.argv is unknown: there is no such option'],
    [{ env: 'PATH=/bin' }, 'options.env must be an object; got a string'],
    [{ env: { A: 'a', PIN: 1234 } }, 'options.env.PIN must be a string or undefined; got a number'],
    [{ env: { A: null } }, 'options.env.A must be a string or undefined; got null'],
    ...(['dshBin', 'profile', 'patches'] as const).map((name): [unknown, string] => [
      { launch: { command: 'node' }, [name]: name === 'patches' ? [] : 'x' },
      `options.launch cannot be combined with ${name}: it replaces the whole command`,
    ]),
  ];
  for (const [options, message] of wrong) {
    it(`refuses what makes it say "${message}"`, () => {
      for (const type of [HarnessClient, DeepSeekHarness]) {
        expect(() => new type(untyped(options)))
          .to.throw(TypeError)
          .with.property('message', message);
      }
    });
  }

  it('quotes no more of a wrong value than a person reads', () => {
    const wordy = { onStderr: 'x'.repeat(100_000) };
    expect(() => new HarnessClient(untyped(wordy)))
      .to.throw(TypeError)
      .with.property('message')
      .with.length.below(200);
  });

  const right: readonly DeepSeekHarnessOptions[] = [
    {},
    Object.create(null) as DeepSeekHarnessOptions,
    untyped(Object.fromEntries([...texts, ...times, ...callbacks].map((name) => [name, undefined]))),
    { env: process.env, maxTokens: 1, maxFrameBytes: Number.POSITIVE_INFINITY, requestTimeoutMs: 0 },
    { env: { A: undefined, B: '' }, patches: [], initializeTimeoutMs: Number.POSITIVE_INFINITY },
    { launch: { command: 'node', args: ['', ' '] }, onStderr: () => undefined, onDiagnostic: () => undefined },
  ];
  for (const [at, options] of right.entries()) {
    it(`accepts what is right, case ${at + 1}`, () => {
      new DeepSeekHarness(options);
    });
  }

  describe('of a run', () => {
    // Nothing must be started: this would fail in another way.
    const harness = new DeepSeekHarness({ launch: { command: 'no-such-dsh' } });
    const session = harness.session('s');
    const runs: readonly [RunInput, unknown, string][] = [
      [untyped(7), {}, 'input must be a string or an array of content blocks; got 7'],
      [untyped(undefined), {}, 'input must be a string or an array of content blocks; got undefined'],
      [untyped({ type: 'text' }), {}, 'input must be a string or an array of content blocks; got an object'],
      ['x', null, 'options must be an object; got null'],
      ['x', 'y', 'options must be an object; got a string'],
      ['x', { signal: new AbortController() }, 'options.signal must be an AbortSignal; got an object'],
      ['x', { signal: null }, 'options.signal must be an AbortSignal; got null'],
      ['x', { timeoutMs: '5' }, 'options.timeoutMs must be a number of milliseconds, 0 or more; got "5"'],
      ['x', { timeoutMs: -1 }, 'options.timeoutMs must be a number of milliseconds, 0 or more; got -1'],
      ['x', { onNotification: [] }, 'options.onNotification must be a function; got an array'],
      ['x', { timeout: 5 }, 'options.timeout is unknown: there is no such option'],
    ];
    for (const [input, options, message] of runs) {
      it(`rejects with "${message}"`, async () => {
        for (const runner of [harness, session]) {
          expect(await rejectionOf(runner.run(input, untyped(options))))
            .to.be.instanceOf(TypeError)
            .with.property('message', message);
        }
      });
    }

    it('name the session at the harness only', async () => {
      const elsewhere: Parameters<HarnessSession['run']>[1] = untyped({ sessionId: 'other' });
      expect(await rejectionOf(session.run('x', elsewhere)))
        .to.be.instanceOf(TypeError)
        .with.property('message', 'options.sessionId is unknown: there is no such option');
    });

    for (const id of ['', ' ', null, 7]) {
      it(`refuse ${JSON.stringify(id)} as a session id`, async () => {
        const message = `sessionId must be a non-blank string; got ${JSON.stringify(id)}`;
        expect(() => harness.session(untyped(id)))
          .to.throw(TypeError)
          .with.property('message', message);
        expect(await rejectionOf(harness.run('x', untyped({ sessionId: id }))))
          .to.be.instanceOf(TypeError)
          .with.property('message', message);
      });
    }
  });

  it('of a request are judged as well', async () => {
    const client = new HarnessClient({ launch: { command: 'no-such-dsh' } });
    expect(await rejectionOf(client.request('x', {}, untyped('5'))))
      .to.be.instanceOf(TypeError)
      .with.property('message', 'timeoutMs must be a number of milliseconds, 0 or more; got "5"');
  });
});
