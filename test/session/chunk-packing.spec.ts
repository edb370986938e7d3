import { expect } from 'chai';
import { type Arbitrary, array, assert, constantFrom, integer, oneof, property, record, string } from 'fast-check';
import { ChunkPacker, isPackedRow, unpackRow } from '../../src/session/chunk-packing.js';
import { runs } from '../support/runs.js';

function pack(lines: readonly string[]): string[] {
  const packed: string[] = [];
  const packer = new ChunkPacker((line) => packed.push(line));
  for (const line of lines) packer.add(line);
  packer.end();
  return packed;
}

function unpack(lines: readonly string[]): string[] {
  return lines.flatMap((line) => {
    const fields = JSON.parse(line);
    return isPackedRow(fields.type) ? unpackRow(fields).map((event) => JSON.stringify(event)) : line;
  });
}

interface DeltaOptions {
  readonly time?: number;
  readonly turn?: number;
  readonly step?: number;
  readonly index?: number;
  readonly text?: string;
}

function delta(seq: number, { time = 100, turn = 1, step = 1, index = 0, text = 'x' }: DeltaOptions = {}): string {
  const data = { turn, step, chunk: { type: 'text-delta', index, text } };
  return JSON.stringify({ type: 'assistant/chunk', seq, time, data });
}

function callDelta(seq: number, call: object, piece = 'x'): string {
  const chunk = { type: 'tool-call-delta', index: 0, ...call, argumentsDelta: piece };
  return JSON.stringify({ type: 'assistant/chunk', seq, time: 100, data: { turn: 1, step: 1, chunk } });
}

describe('ChunkPacker', () => {
  it('makes one row of a run, with the gaps between the times', () => {
    const lines = [
      delta(40, { time: 500, text: 'An' }),
      delta(41, { time: 503, text: 'swer' }),
      delta(42, { time: 501, text: ': ' }),
      delta(43, { time: 505, text: '4' }),
    ];
    expect(pack(lines)).to.deep.equal([
      '{"type":"text-chunks","seq0":40,"time0":500,"data":{"turn":1,"step":1,"index":0,"dt":[3,-2,4],"texts":["An","swer",": ","4"]}}',
    ]);
  });

  it('names the other kinds of rows, and keeps id and name of a call', () => {
    const reasoning = [0, 1, 2].map((seq) => delta(seq).replace('text-delta', 'reasoning-delta'));
    expect(pack(reasoning)).to.deep.equal([
      '{"type":"reasoning-chunks","seq0":0,"time0":100,"data":{"turn":1,"step":1,"index":0,"dt":[0,0],"texts":["x","x","x"]}}',
    ]);
    expect(pack([0, 1, 2].map((seq) => callDelta(seq, { id: 'c', name: 'bash' })))).to.deep.equal([
      '{"type":"tool-call-chunks","seq0":0,"time0":100,"data":{"turn":1,"step":1,"index":0,"dt":[0,0],"id":"c","name":"bash","args":["x","x","x"]}}',
    ]);
    expect(pack([0, 1, 2].map((seq) => callDelta(seq, { id: 'c' })))).to.deep.equal([
      '{"type":"tool-call-chunks","seq0":0,"time0":100,"data":{"turn":1,"step":1,"index":0,"dt":[0,0],"id":"c","args":["x","x","x"]}}',
    ]);
  });

  const breaks: readonly (readonly [string, (seq: number) => string])[] = [
    ['another turn', (seq) => delta(seq, { turn: 2 })],
    ['another step', (seq) => delta(seq, { step: 2 })],
    ['another index', (seq) => delta(seq, { index: 1 })],
    ['another kind', (seq) => delta(seq).replace('text-delta', 'reasoning-delta')],
    ['a gap', (seq) => delta(seq + 1)],
    ['a time too far away', (seq) => delta(seq, { time: -Number.MAX_SAFE_INTEGER })],
  ];
  for (const [what, next] of breaks) {
    it(`ends a run at ${what}`, () => {
      const run = [0, 1, 2].map((seq) => delta(seq));
      const lines = [...run, next(3), next(4), next(5)];
      expect(pack(lines)).to.have.length(2);
      expect(unpack(pack(lines))).to.deep.equal(lines);
    });
  }

  it('keeps calls apart whose id or name differs', () => {
    const lines = [{ id: 'a' }, { id: 'b' }, { id: 'b', name: 'n' }, { id: 'b', name: '' }].map((call, seq) =>
      callDelta(seq, call),
    );
    expect(pack(lines)).to.deep.equal(lines);
  });

  const verbatim: readonly (readonly [string, string])[] = [
    ['an unknown key of the event', delta(0).replace('{', '{"ignorable":true,')],
    ['an unknown key at its end', delta(0).replace(/}$/, ',"extra":1}')],
    ['an unknown key of the data', delta(0).replace('"step":1', '"step":1,"extra":1')],
    ['an unknown key of the chunk', delta(0).replace('"text":', '"extra":1,"text":')],
    ['a text that is none', delta(0).replace('"text":"x"', '"text":1')],
    ['an index that is no integer', delta(0).replace('"index":0', '"index":0.5')],
    ['a time that is no integer', delta(0).replace('"time":100', '"time":100.5')],
    ['a negative zero', delta(0).replace('"index":0', '"index":-0')],
    ['another order of the keys', '{"type":"assistant/chunk","time":1,"seq":0,"data":{}}'],
    ['another spelling of a number', delta(0).replace('"time":100', '"time":1e2')],
    ['another spelling of a text', delta(0).replace('"x"', '"\\u0078"')],
    ['a call without id', callDelta(0, {})],
    ['a text with an id', delta(0).replace('"index":0', '"index":0,"id":"c"')],
    ['no JSON', '{"type":"assistant/chunk",'],
    ['no data', '{"type":"assistant/chunk","seq":0,"time":1}'],
    ['a chunk that is no delta', delta(0).replace('text-delta', 'constructor')],
  ];
  for (const [what, line] of verbatim) {
    it(`leaves a line with ${what} as it is, and the run that it breaks`, () => {
      const lines = [delta(0), delta(1), line, line, line, delta(2), delta(3)];
      expect(pack(lines)).to.deep.equal(lines);
    });
  }

  it('bounds a row, and goes on with the next one', () => {
    const lines = Array.from({ length: 5_000 }, (_, seq) => delta(seq));
    expect(pack(lines)).to.have.length(2);
    expect(unpack(pack(lines))).to.deep.equal(lines);
  });

  it('gives back every line byte for byte, whatever runs there are', () => {
    assert(
      property(batches, (lines) => {
        const packed = pack(lines);
        expect(unpack(packed)).to.deep.equal(lines);
        expect(packed.length).to.be.at.most(lines.length);
        expect(pack(packed)).to.deep.equal(packed);
      }),
      runs(300),
    );
  });
});

/** Batches rich in runs: few values for what has to be equal, any for the rest. */
const batches: Arbitrary<string[]> = array(
  record({
    kind: constantFrom('text-delta', 'text-delta', 'text-delta', 'reasoning-delta', 'tool-call-delta', 'finish'),
    call: constantFrom({ id: 'a' }, { id: 'a', name: 'n' }, { id: '' }),
    at: constantFrom({ turn: 1, step: 1 }, { turn: 1, step: 1 }, { turn: 1, step: 2 }),
    index: constantFrom(0, 0, 0, 1),
    time: oneof(integer({ min: 0, max: 50 }), integer({ min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER })),
    text: string({ unit: 'binary', maxLength: 4 }),
    skip: constantFrom(0, 0, 0, 0, 0, 3),
    odd: constantFrom({}, {}, {}, {}, {}, { extra: 1 }),
  }),
  { maxLength: 40 },
).map((drafts) => {
  let seq = 0;
  return drafts.map(({ kind, call, at, index, time, text, skip, odd }) => {
    seq += 1 + skip;
    const tool = { type: kind, index, ...call, argumentsDelta: text };
    const chunk = kind === 'tool-call-delta' ? tool : { type: kind, index, text };
    return JSON.stringify({ type: 'assistant/chunk', seq, time, data: { ...at, chunk, ...odd } });
  });
});

describe('unpackRow', () => {
  const row = {
    type: 'text-chunks',
    seq0: 5,
    time0: 10,
    data: { turn: 1, step: 2, index: 0, dt: [1], texts: ['a', 'b'] },
  };
  const callRow = {
    ...row,
    type: 'tool-call-chunks',
    data: { turn: 1, step: 2, index: 0, dt: [], id: 'c', args: ['a'] },
  };

  it('gives frozen events', () => {
    const events = unpackRow(row);
    expect(events.map(({ seq, time }) => [seq, time])).to.deep.equal([
      [5, 10],
      [6, 11],
    ]);
    for (const event of events) {
      expect(Object.isFrozen(event) && Object.isFrozen(event.data)).to.equal(true);
      expect(event).to.have.nested.property('data.chunk').that.satisfies(Object.isFrozen);
    }
    expect(unpackRow(callRow)).to.have.length(1);
  });

  const malformed: readonly (readonly [object, RegExp])[] = [
    [{ ...row, data: undefined }, /data must be an object/],
    [{ ...row, data: [] }, /data must be an object/],
    [{ type: 'text-chunks', seq0: 5, data: row.data }, /the row lacks time0/],
    [{ ...row, extra: 1 }, /"extra" is not a member of the row/],
    [{ ...row, seq0: 1.5 }, /seq0 must be a safe integer/],
    [{ ...row, time0: '1' }, /time0 must be a safe integer/],
    [{ ...row, time0: Number.MAX_SAFE_INTEGER }, /a time must be a safe integer/],
    [{ ...row, data: { ...row.data, turn: undefined } }, /turn must be a safe integer/],
    [{ ...row, data: { ...row.data, step: '1' } }, /step must be/],
    [{ ...row, data: { ...row.data, index: -0 } }, /index must be/],
    [{ ...row, data: { ...row.data, dt: [] } }, /dt must be a list of 1/],
    [{ ...row, data: { ...row.data, dt: [1, 1] } }, /dt must be a list of 1/],
    [{ ...row, data: { ...row.data, dt: [0.5] } }, /dt must be a list of 1/],
    [{ ...row, data: { ...row.data, texts: [] } }, /texts must be a list of strings/],
    [{ ...row, data: { ...row.data, texts: ['a', 1] } }, /texts must be a list of strings/],
    [{ ...row, data: { ...row.data, texts: 'ab' } }, /texts must be a list of strings/],
    [{ ...row, data: { ...row.data, id: 'c' } }, /"id" is not a member of data/],
    [{ ...callRow, data: row.data }, /data lacks args/],
    [{ ...callRow, data: { ...callRow.data, id: 1 } }, /id must be a string/],
    [{ ...callRow, data: { ...callRow.data, name: 1 } }, /name must be a string/],
  ];
  for (const [fields, problem] of malformed) {
    it(`refuses ${JSON.stringify(fields)}`, () => {
      expect(() => unpackRow(fields as Record<string, unknown>)).to.throw(problem);
    });
  }
});
