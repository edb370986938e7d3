import { expect } from 'chai';
import sinon from 'sinon';
import { CodedError, Deferred } from '../../src/base/index.js';
import type { JsonObject } from '../../src/protocol/index.js';
import type { Tool, ToolCallContext } from '../../src/tool/index.js';
import { ToolScope, textOf } from '../support/tool-scope.js';

const ANY: JsonObject = { type: 'object' };

function tool(name: string, execute: Tool['execute'] = () => name, more: Partial<Tool> = {}): Tool {
  return { name, description: `Does ${name}.`, parameters: ANY, execute, ...more };
}

async function open(...sessionTools: Tool[]): Promise<ToolScope> {
  return ToolScope.open({ sessionTools });
}

describe('SessionToolExecutor', () => {
  it('lists the tools of session and runtime in lexicographic name order', async () => {
    const scope = await ToolScope.open({
      runtimeTools: [tool('b'), tool('Z')],
      sessionTools: [tool('c'), tool('a')],
    });
    expect(scope.executor.definitions.map(({ name }) => name)).to.deep.equal(['Z', 'a', 'b', 'c']);
    expect(scope.executor.definitions[0]).to.deep.equal({ name: 'Z', description: 'Does Z.', parameters: ANY });
    expect(textOf(await scope.call('b', {}))).to.equal('b');
  });

  it('refuses a session whose tool has the name of one of the runtime', async () => {
    const opening = ToolScope.open({ runtimeTools: [tool('a')], sessionTools: [tool('a')] });
    const thrown = await opening.catch((error: CodedError) => error);
    expect(thrown).to.be.instanceOf(CodedError).with.property('code', 'DUPLICATE_TOOL');
    expect(thrown).to.have.property('message').that.contains('"a"');
  });

  it('gives the body its call', async () => {
    const execute = sinon.fake.returns('ok');
    const scope = await ToolScope.open({ sessionTools: [tool('t', execute)], sessionId: 's-9', cwd: '/somewhere' });
    const { signal } = new AbortController();
    await scope.executor.execute({ callId: 'c-7', name: 't', arguments: '{"a":1}' }, signal);
    const [args, call] = execute.firstCall.args as [JsonObject, ToolCallContext];
    expect(args).to.deep.equal({ a: 1 });
    expect(call).to.include({ sessionId: 's-9', callId: 'c-7', cwd: '/somewhere' });
    expect(call.signal).to.equal(signal);
  });

  it('answers a call of a tool that there is not', async () => {
    expect(await (await open()).call('x', {})).to.deep.equal({
      content: [{ type: 'text', text: 'Error: unknown tool "x"' }],
      isError: true,
      error: { name: 'UnknownToolError', code: 'UNKNOWN_TOOL' },
    });
  });

  describe('arguments', () => {
    const parameters: JsonObject = {
      type: 'object',
      properties: {
        edits: { type: 'array', items: { type: 'object', properties: { path: { type: 'string' } } } },
        mode: { enum: ['r', 'w'] },
      },
      required: ['mode'],
    };

    const refused: readonly (readonly [string, string, RegExp])[] = [
      ['no JSON', '{"mode": "r"', /^Error: invalid arguments for tool "t": they are no valid JSON: .*(JSON|position)/],
      ['an array', '[]', /they must be a JSON object$/],
      ['null', 'null', /they must be a JSON object$/],
      ['a missing member', '{}', /must have required property 'mode'$/],
      ['a wrong member', '{"mode":"x"}', /mode must be equal to one of the allowed values \("r", "w"\)$/],
      [
        'two wrong members, deep ones too',
        '{"mode":"x","edits":[{},{"path":1}]}',
        /"t": edits\[1\]\.path must be string; mode must/,
      ],
    ];
    for (const [title, text, message] of refused) {
      it(`refuses ${title}, without running the body`, async () => {
        const execute = sinon.fake();
        const outcome = await (await open(tool('t', execute, { parameters }))).call('t', text);
        expect(outcome).to.deep.include({ isError: true, error: { name: 'InvalidArgsError', code: 'INVALID_ARGS' } });
        expect(textOf(outcome)).to.match(message);
        expect(execute.called).to.equal(false);
      });
    }

    it('takes empty text as no arguments, and lets unknown members pass', async () => {
      const scope = await open(tool('t', (args) => args));
      expect(textOf(await scope.call('t', ''))).to.equal('{}');
      expect(textOf(await scope.call('t', '{"extra":[1]}'))).to.equal('{"extra":[1]}');
    });

    it('are frozen all through, however deep', async () => {
      const execute = sinon.fake.returns('');
      const scope = await open(tool('t', execute));
      const depth = 100_000;
      await scope.call('t', `{"a":${'['.repeat(depth)}${']'.repeat(depth)},"b":{"c":{}},"__proto__":{"d":1}}`);
      const seen: unknown = execute.firstCall.args[0];
      const { a, b } = seen as { a: unknown[]; b: { c: object } };
      let deepest: unknown = a;
      while (Array.isArray(deepest) && deepest.length > 0 && Object.isFrozen(deepest)) deepest = deepest[0];
      expect(deepest).to.deep.equal([]);
      expect([seen, deepest, b, b.c].every(Object.isFrozen)).to.equal(true);
      expect(() => Object.assign(b, { c: 1 })).to.throw(TypeError);
    });

    it('names the tool whose schema cannot be compiled', async () => {
      const scope = await open(
        tool('t', () => '', { parameters: { type: 'strng' } }),
        tool('u'),
      );
      const outcome = await scope.call('t', {});
      expect(outcome.error?.code).to.equal('INVALID_TOOL');
      expect(textOf(outcome)).to.contain('tool "t" has parameters that are no usable JSON Schema');
      expect(textOf(await scope.call('u', {}))).to.equal('u');
    });

    it('are judged by each tool’s own schema, even when two share an $id and name a foreign dialect', async () => {
      const of = (type: string): JsonObject => ({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        $id: 'same',
        type: 'object',
        properties: { a: { type, format: 'unheard-of' } },
      });
      const scope = await open(
        tool('n', () => 'n', { parameters: of('number') }),
        tool('s', () => 's', { parameters: of('string') }),
      );
      expect((await scope.call('n', { a: 'x' })).isError).to.equal(true);
      expect((await scope.call('n', { a: 1 })).isError).to.equal(false);
      expect((await scope.call('s', { a: 'x' })).isError).to.equal(false);
      expect((await scope.call('s', { a: 1 })).isError).to.equal(true);
    });
  });

  describe('abort', () => {
    it('before dispatch leaves the body unrun, even of an unknown tool', async () => {
      const execute = sinon.fake();
      const scope = await open(tool('t', execute));
      for (const name of ['t', 'x']) {
        expect(await scope.call(name, {}, AbortSignal.abort())).to.deep.equal({
          content: [{ type: 'text', text: 'Error: tool call aborted before dispatch' }],
          isError: true,
          error: { name: 'AbortError', code: 'ABORTED_BEFORE_DISPATCH' },
        });
      }
      expect(execute.called).to.equal(false);
    });

    const endings: readonly (readonly [string, (signal: AbortSignal) => unknown])[] = [
      ['succeeds', () => 'done'],
      ['rejects with the reason of its signal', (signal) => Promise.reject(signal.reason)],
      ['rejects with an AbortError', () => Promise.reject(new DOMException('stopped', 'AbortError'))],
    ];
    for (const timeoutMs of [undefined, 60_000]) {
      for (const [title, end] of endings) {
        it(`waits for a body ${timeoutMs === undefined ? '' : 'with a timeout '}that ${title}, and reports the abort`, async () => {
          const running = new Deferred<AbortSignal>();
          const mayEnd = new Deferred<void>();
          const execute = async (_: JsonObject, { signal }: ToolCallContext): Promise<unknown> => {
            running.resolve(signal);
            await mayEnd.promise;
            return end(signal);
          };
          const scope = await open(tool('t', execute, timeoutMs === undefined ? {} : { timeoutMs }));
          const controller = new AbortController();
          const settled = sinon.fake();
          const outcome = scope.call('t', {}, controller.signal);
          void outcome.then(settled);
          const signal = await running.promise;
          controller.abort();
          expect(signal.aborted).to.equal(true);
          await new Promise(setImmediate);
          expect(settled.called).to.equal(false);
          mayEnd.resolve();
          expect(await outcome).to.deep.equal({
            content: [{ type: 'text', text: 'Error: tool call aborted' }],
            isError: true,
            error: { name: 'AbortError', code: 'ABORTED' },
          });
        });
      }
    }

    it('does not hide a more specific failure', async () => {
      const controller = new AbortController();
      const scope = await open(
        tool('t', () => {
          controller.abort();
          throw new CodedError('DISK_ON_FIRE', 'the disk burns');
        }),
      );
      const outcome = await scope.call('t', {}, controller.signal);
      expect(textOf(outcome)).to.equal('Error: the disk burns');
      expect(outcome.error?.code).to.equal('DISK_ON_FIRE');
    });
  });

  describe('timeoutMs', () => {
    it('ends a call whose body does not end, tells the body, and contains what it does later', async () => {
      const body = new Deferred<string>();
      const execute = sinon.fake((_: JsonObject, call: ToolCallContext) => call && body.promise);
      const scope = await open(tool('t', execute, { timeoutMs: 5 }));
      expect(await scope.call('t', {})).to.deep.equal({
        content: [{ type: 'text', text: 'Error: tool call timed out after 5ms' }],
        isError: true,
        error: { name: 'ToolTimeoutError', code: 'TOOL_TIMEOUT' },
      });
      expect(execute.firstCall.args[1].signal.aborted).to.equal(true);
      // An unhandled rejection would fail the run.
      body.reject(new Error('too late'));
      await new Promise(setImmediate);
    });

    it('leaves no timer and no listener behind', async () => {
      const scope = await open(tool('t', () => 'quick', { timeoutMs: 2 ** 40 }));
      const { signal } = new AbortController();
      const added = sinon.spy(signal, 'addEventListener');
      const removed = sinon.spy(signal, 'removeEventListener');
      const timers = process.getActiveResourcesInfo().filter((type) => type === 'Timeout').length;
      expect(textOf(await scope.call('t', {}, signal))).to.equal('quick');
      expect(process.getActiveResourcesInfo().filter((type) => type === 'Timeout').length).to.equal(timers);
      expect(removed.callCount).to.equal(added.callCount).and.to.equal(1);
      expect(removed.firstCall.args[1]).to.equal(added.firstCall.args[1]);
    });
  });
});
