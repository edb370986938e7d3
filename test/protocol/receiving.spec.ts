import { expect } from 'chai';
import fc from 'fast-check';
import { openTransport, type TransportRig, turns } from '../support/transport-rig.js';

const NOTE = { jsonrpc: '2.0', method: 'note' };
const DEEP = '['.repeat(50_000) + ']'.repeat(50_000);

describe('JsonRpcLineTransport, reading', () => {
  let rig: TransportRig;
  beforeEach(() => {
    rig = openTransport();
  });
  afterEach(() => rig.transport.close());

  describe('of what is no frame (A9)', () => {
    const junk: Record<string, string> = {
      'text that is no JSON': '{oops',
      null: 'null',
      'a number': '12',
      'a string': '"hello"',
      'a batch': '[{"jsonrpc":"2.0","id":1,"method":"a"}]',
      'an array 50,000 deep': DEEP,
      'an object without id and method': '{"jsonrpc":"2.0"}',
      'a null id': '{"jsonrpc":"2.0","id":null,"method":"a"}',
      'an object as id': '{"jsonrpc":"2.0","id":{"a":1},"method":"a"}',
      'a boolean id': '{"id":true,"result":1}',
      'a numeric id that is rounded (J13)': '{"id":9007199254740993,"method":"a"}',
      'a negative id that is rounded (J13)': '{"id":-9007199254740992,"method":"a"}',
      'a numeric id beyond all numbers (J13)': '{"id":1e400,"method":"a"}',
    };
    for (const [title, line] of Object.entries(junk)) {
      it(`drops ${title}, says so, and reads on`, async () => {
        await rig.send(line, NOTE);
        expect(rig.heard).to.deep.equal([{ method: 'note', params: {} }]);
        expect(rig.written()).to.deep.equal([]);
        expect(rig.diagnostics.map(({ kind, count }) => ({ kind, count }))).to.deep.equal([{ kind: 'junk', count: 1 }]);
        expect(rig.diagnostics[0]?.message).to.contain(JSON.stringify(line.slice(0, 120)));
      });
    }

    it('reports a burst once, and what followed when a frame or the end came', async () => {
      await rig.send('one', 'two', 'three');
      await rig.send('four');
      expect(rig.diagnostics.map(({ count }) => count)).to.deep.equal([3]);
      await rig.send(NOTE);
      expect(rig.diagnostics.map(({ count }) => count)).to.deep.equal([3, 1]);
      await rig.send('five');
      await rig.send('six');
      rig.input.end();
      await rig.transport.closed;
      expect(rig.diagnostics.map(({ count }) => count)).to.deep.equal([3, 1, 1, 1]);
    });

    it('is silent about blank lines', async () => {
      await rig.send('', '   ', '\t\r', NOTE);
      expect(rig.heard).to.have.length(1);
      expect(rig.diagnostics).to.deep.equal([]);
    });

    for (const before of ['Loading model... ', 'done {"a":1}', '{"jsonrpc":"2.0","method":"cut o', '\u001b[31m']) {
      it(`finds the frame glued to ${JSON.stringify(before)}`, async () => {
        await rig.send(before + JSON.stringify(NOTE));
        expect(rig.heard).to.deep.equal([{ method: 'note', params: {} }]);
        expect(rig.diagnostics.map(({ count }) => count)).to.deep.equal([1]);
      });
    }

    it('takes a line that does not end with its frame as junk as a whole', async () => {
      await rig.send(`banner ${JSON.stringify(NOTE)} trailer`);
      expect(rig.heard).to.deep.equal([]);
      expect(rig.diagnostics.map(({ count }) => count)).to.deep.equal([1]);
    });
  });

  describe('of frames', () => {
    it('reads CRLF, a byte order mark and blanks around a frame (A3)', async () => {
      const note = JSON.stringify(NOTE);
      await rig.send(`\ufeff${note}`, `${note}\r`, `  ${note}\t`);
      expect(rig.heard).to.have.length(3);
      expect(rig.diagnostics).to.deep.equal([]);
    });

    it('does not need the jsonrpc member', async () => {
      await rig.send({ method: 'a' }, { id: 1, method: 'b' });
      expect(rig.heard.map(({ method }) => method)).to.deep.equal(['a', 'b']);
    });

    it('delivers frames unchanged wherever their bytes are cut (A1, A2)', async () => {
      const unit = fc.constantFrom(
        '台',
        '🔥',
        '\u2028',
        '\u2029',
        '\u0085',
        '\u000b',
        '\n',
        '\r',
        '"',
        '\\',
        'a',
        '\ud800',
      );
      const params = fc.dictionary(fc.string({ unit }), fc.oneof(fc.string({ unit }), fc.jsonValue()));
      await fc.assert(
        fc.asyncProperty(fc.array(params), fc.array(fc.nat()), async (sent, cuts) => {
          const { transport, input, heard } = openTransport();
          const bytes = Buffer.from(sent.map((one) => `${JSON.stringify({ ...NOTE, params: one })}\n`).join(''));
          const ends = [...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
          ends.reduce((start, end) => {
            input.write(bytes.subarray(start, end));
            return end;
          }, 0);
          input.end();
          await transport.closed;
          const expected = sent.map((one) => ({ method: 'note', params: JSON.parse(JSON.stringify(one)) }));
          expect(heard).to.deep.equal(expected);
        }),
      );
    });

    it('reads the last frame without a newline at the end of the input', async () => {
      rig.input.end(JSON.stringify(NOTE));
      await rig.transport.closed;
      expect(rig.heard).to.have.length(1);
    });

    it('reads nothing before start, and once however often it is started', async () => {
      const { transport, send, heard } = openTransport({}, { start: false });
      await send(NOTE);
      expect(heard).to.deep.equal([]);
      transport.start();
      transport.start();
      await turns();
      expect(heard).to.deep.equal([{ method: 'note', params: {} }]);
    });

    it('hands out nothing any more once a handler closed it', async () => {
      rig.transport.onNotification((method) => {
        rig.heard.push({ method, params: {} });
        rig.transport.close();
      });
      await rig.send(NOTE, NOTE, { id: 1, method: 'late' });
      expect(rig.heard).to.have.length(1);
    });
  });

  describe('of requests', () => {
    for (const id of [
      'a',
      '',
      '__proto__',
      'constructor',
      '9007199254740993',
      '\u2028"',
      0,
      -7,
      1.5,
      9007199254740991,
    ]) {
      it(`echoes the id ${JSON.stringify(id)} with its type`, async () => {
        await rig.send({ jsonrpc: '2.0', id, method: 'a' });
        expect(rig.written()).to.deep.equal([{ jsonrpc: '2.0', id, result: {} }]);
      });
    }

    for (const method of [5, null, true, {}, ['a']]) {
      it(`refuses the method ${JSON.stringify(method)} with -32600 (A9)`, async () => {
        await rig.send({ id: 'x', method });
        const error = { code: -32600, message: 'method must be a string' };
        expect(rig.written()).to.deep.equal([{ jsonrpc: '2.0', id: 'x', error }]);
        expect(rig.heard).to.deep.equal([]);
      });
    }

    for (const method of ['__proto__', 'constructor', 'toString', '']) {
      it(`takes ${JSON.stringify(method)} as a name like any other`, async () => {
        await rig.send({ id: 1, method }, { method });
        expect(rig.heard.map((one) => one.method)).to.deep.equal([method, method]);
      });
    }

    for (const params of [undefined, null]) {
      it(`hands out {} for params that are ${params}`, async () => {
        await rig.send({ id: 1, method: 'a', params }, { method: 'b', params });
        expect(rig.heard.map((one) => one.params)).to.deep.equal([{}, {}]);
      });
    }

    for (const params of [[], [{}], 'text', 0, false]) {
      it(`refuses the params ${JSON.stringify(params)} with -32602, and hands out {} to a notification`, async () => {
        await rig.send({ id: 1, method: 'a', params }, { method: 'b', params });
        expect(rig.heard).to.deep.equal([{ method: 'b', params: {} }]);
        const violations = [{ path: '', constraint: 'isObject', message: 'params must be an object' }];
        const error = { code: -32602, message: 'params must be an object', data: { violations } };
        expect(rig.written()).to.deep.equal([{ jsonrpc: '2.0', id: 1, error }]);
      });
    }

    it('answers -32601 without a handler', async () => {
      const { send, written } = openTransport({}, { handlers: false });
      await send({ method: 'harmless' }, { id: 1, method: '__proto__' });
      const error = { code: -32601, message: 'method not found: __proto__', data: { method: '__proto__' } };
      expect(written()).to.deep.equal([{ jsonrpc: '2.0', id: 1, error }]);
    });

    it('serves params that are nested 50,000 deep (A9)', async () => {
      await rig.send(`{"id":1,"method":"a","params":{"deep":${DEEP}}}`);
      expect(rig.written()).to.deep.equal([{ jsonrpc: '2.0', id: 1, result: {} }]);
    });

    it('serves concurrently, each answer as soon as it is there, the same id twice (A9)', async () => {
      const answers: ((value: string) => void)[] = [];
      rig.transport.onRequest(() => new Promise((resolve) => answers.push(resolve)));
      await rig.send({ id: 1, method: 'a' }, { id: 1, method: 'b' }, { id: 2, method: 'c' });
      for (const [index, answer] of [...answers.entries()].reverse()) answer(`answer ${index}`);
      await turns();
      expect(rig.written().map(({ id, result }) => [id, result])).to.deep.equal([
        [2, 'answer 2'],
        [1, 'answer 1'],
        [1, 'answer 0'],
      ]);
    });
  });
});
