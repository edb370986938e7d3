import { expect } from 'chai';
import { CodedError } from '../../src/base/index.js';
import type { ContentBlock } from '../../src/protocol/index.js';
import { failure, success } from '../../src/tool/call-result.js';
import type { Tool } from '../../src/tool/index.js';

const TOOL: Tool = { name: 't', description: '', parameters: {}, execute: () => undefined };

function shown(value: unknown, tool: Tool = TOOL): readonly ContentBlock[] {
  return success(tool, value).content;
}
function text(value: string): readonly ContentBlock[] {
  return [{ type: 'text', text: value }];
}

describe('result of a call', () => {
  const cyclic: { self?: object } = {};
  cyclic.self = cyclic;
  class Custom {
    readonly a = 1;
  }

  it('shows a string as it is, the empty one too', () => {
    expect(shown('two\nlines\n')).to.deep.equal(text('two\nlines\n'));
    expect(shown('')).to.deep.equal(text(''));
  });

  it('shows an array of blocks as content', () => {
    const blocks = [
      { type: 'text', text: 'a' },
      { type: 'reasoning', text: 'b' },
    ];
    expect(shown(blocks)).to.deep.equal(blocks);
  });

  for (const value of [
    [],
    [{ type: 'text', text: 'a' }, { type: 'file' }],
    [1],
    { type: 'text', text: 'a' },
    null,
    5,
    true,
  ]) {
    it(`shows ${JSON.stringify(value)} as JSON`, () => {
      expect(shown(value)).to.deep.equal(text(JSON.stringify(value)));
    });
  }

  it('lets a tool render its value', () => {
    const render = (value: unknown): string => `rendered ${(value as { a: number }).a}`;
    expect(shown({ a: 1 }, { ...TOOL, render })).to.deep.equal(text('rendered 1'));
    expect(shown(cyclic, { ...TOOL, render: () => [{ type: 'text', text: 'b' }] })).to.deep.equal(text('b'));
  });

  it('makes text well-formed, in blocks and failures too (A8)', () => {
    expect(shown('a\ud83d')).to.deep.equal(text('a\ufffd'));
    expect(shown([{ type: 'text', text: '\udd25' }])).to.deep.equal(text('\ufffd'));
    expect(failure(new Error('\ud83d')).content).to.deep.equal(text('Error: \ufffd'));
  });

  const invalid: readonly (readonly [string, unknown, string])[] = [
    ['undefined', undefined, 'value is undefined'],
    ['a function', () => 1, 'value is a function'],
    ['NaN', { a: [Number.NaN] }, 'value.a[0] is NaN'],
    ['-0', -0, 'value is -0'],
    ['a bigint', { a: { b: 1n } }, 'value.a.b is a bigint'],
    ['a Date', [new Date(0)], 'value[0] is an instance of Date'],
    ['an instance', new Custom(), 'value is an instance of Custom'],
    ['a Map', { a: new Map() }, 'value.a is an instance of Map'],
    ['a member that is undefined', { a: undefined }, 'value.a is undefined'],
    ['an array with a hole', { a: new Array(2) }, 'value.a[0] is a hole'],
    ['a symbol key', { [Symbol('s')]: 1 }, 'value has a symbol as key'],
    ['a cycle', cyclic, 'value.self.self'],
    ['a text block without text', [{ type: 'text' }], 'a text block has no text'],
  ];
  for (const [title, value, reason] of invalid) {
    it(`refuses ${title}`, () => {
      expect(() => shown(value))
        .to.throw(CodedError, `tool "t" returned a value that is not JSON: ${reason}`)
        .with.property('code', 'INVALID_TOOL_OUTPUT');
    });
  }

  it('refuses what is nested too deeply to be shown', () => {
    let deep: unknown[] = [];
    for (let i = 0; i < 1_000_000; i++) deep = [deep];
    expect(() => shown(deep)).to.throw(CodedError, 'levels, or cyclic');
  });

  describe('of a throw', () => {
    it('carries the code of a coded error, also of another copy of its class', () => {
      const foreign = Object.assign(new Error('no'), { name: 'ForeignError', code: 'NOPE' });
      expect(failure(foreign).error).to.deep.equal({ name: 'ForeignError', code: 'NOPE' });
      expect(failure(new CodedError('C', 'm'))).to.deep.equal({
        content: text('Error: m'),
        isError: true,
        error: { name: 'CodedError', code: 'C' },
      });
    });

    const uncoded: readonly (readonly [string, unknown, string])[] = [
      ['an Error', new Error('plain'), 'plain'],
      ['a string', 'just text', 'just text'],
      ['a system error', Object.assign(new Error('gone'), { code: 'ENOENT', errno: -2, syscall: 'open' }), 'gone'],
      ['an error of Node', Object.assign(new TypeError('bad'), { code: 'ERR_INVALID_ARG_TYPE' }), 'bad'],
    ];
    for (const [title, thrown, message] of uncoded) {
      it(`has no code for ${title}`, () => {
        expect(failure(thrown)).to.deep.equal({ content: text(`Error: ${message}`), isError: true });
      });
    }
  });
});
