import { expect } from 'chai';
import { type JsonObject, JsonRpcResponseError, SdkProtocolError } from '../../src/protocol/index.js';
import { rejectionOf } from '../support/rejection-of.js';
import { openTransport, type TransportRig, turns } from '../support/transport-rig.js';

const NOTE = { jsonrpc: '2.0', method: 'note' };

describe('JsonRpcLineTransport, answers', () => {
  let rig: TransportRig;
  beforeEach(() => {
    rig = openTransport();
  });
  afterEach(() => rig.transport.close());

  describe('of its handlers', () => {
    const cyclic: { self?: unknown } = {};
    cyclic.self = cyclic;
    const results: { title: string; result: unknown; frame: JsonObject }[] = [
      { title: 'undefined as null (J11)', result: undefined, frame: { result: null } },
      { title: 'a function as null', result: () => 1, frame: { result: null } },
      {
        title: 'a thenable with its value',
        // biome-ignore lint/suspicious/noThenProperty: the thenable is the point
        result: { then: (ok: (v: number) => void) => ok(7) },
        frame: { result: 7 },
      },
      { title: 'false as it is', result: false, frame: { result: false } },
    ];
    for (const { title, result, frame } of results) {
      it(`writes ${title}`, async () => {
        rig.transport.onRequest(() => result);
        await rig.send({ id: 1, method: 'a' });
        expect(rig.written()).to.deep.equal([{ jsonrpc: '2.0', id: 1, ...frame }]);
      });
    }

    for (const result of [cyclic, 1n, Promise.resolve(cyclic)]) {
      it(`answers -32603 for ${result === 1n ? 'a bigint' : 'a cyclic result'}`, async () => {
        rig.transport.onRequest(() => result);
        await rig.send({ id: 1, method: 'a' });
        expect(rig.written()).to.have.nested.property('[0].error.code', -32603);
      });
    }

    class ForeignError extends Error {
      override readonly name = 'JsonRpcResponseError';
      readonly code = -32000;
      readonly data = ['from another copy'];
    }
    const errors: { title: string; thrown: unknown; error: JsonObject }[] = [
      { title: 'an Error', thrown: new Error('broken'), error: { code: -32603, message: 'broken' } },
      { title: 'a string', thrown: 'broken', error: { code: -32603, message: 'broken' } },
      { title: 'undefined', thrown: undefined, error: { code: -32603, message: 'undefined' } },
      {
        title: 'a value without text',
        thrown: Object.create(null),
        error: { code: -32603, message: 'the handler threw a value that has no text' },
      },
      {
        title: 'an error of the file system',
        thrown: Object.assign(new Error('no such file'), { code: 'ENOENT', data: 1 }),
        error: { code: -32603, message: 'no such file' },
      },
      {
        title: 'a JsonRpcResponseError',
        thrown: new JsonRpcResponseError('no', -32001, { why: 'so' }),
        error: { code: -32001, message: 'no', data: { why: 'so' } },
      },
      {
        title: 'a JsonRpcResponseError without a code',
        thrown: new JsonRpcResponseError('no'),
        error: { code: -32603, message: 'no' },
      },
      {
        title: 'a JsonRpcResponseError whose data is no JSON',
        thrown: new JsonRpcResponseError('no', -1, cyclic as JsonObject),
        error: { code: -1, message: 'no' },
      },
      {
        title: 'a JsonRpcResponseError of another copy',
        thrown: new ForeignError('no'),
        error: { code: -32000, message: 'no', data: ['from another copy'] },
      },
    ];
    for (const { title, thrown, error } of errors) {
      it(`maps ${title}, thrown or rejected`, async () => {
        rig.transport.onRequest((method) => {
          if (method === 'throw') throw thrown;
          return Promise.reject(thrown);
        });
        await rig.send({ id: 1, method: 'throw' }, { id: 2, method: 'reject' });
        const frame = { jsonrpc: '2.0', error };
        expect(rig.written()).to.deep.equal([
          { ...frame, id: 1 },
          { ...frame, id: 2 },
        ]);
      });
    }

    it('contains and reports a notification handler that throws or rejects (J11)', async () => {
      const boom = new Error('boom');
      const handlers = [
        () => {
          throw boom;
        },
        async () => {
          throw boom;
        },
      ];
      for (const handler of handlers) {
        rig.transport.onNotification(handler);
        await rig.send({ method: 'first' });
      }
      const message = 'the handler of notification "first" failed';
      const diagnostic = { kind: 'handler-failed', message, cause: boom };
      expect(rig.diagnostics).to.deep.equal([diagnostic, diagnostic]);
      await rig.send({ id: 1, method: 'still there' });
      expect(rig.written()).to.have.length(1);
    });
  });

  describe('of the peer', () => {
    async function answer(frame: object): Promise<unknown> {
      const request = rig.transport.request('ask');
      request.catch(() => undefined); // it may reject before the caller looks
      await turns();
      const [asked] = rig.written();
      await rig.send({ jsonrpc: '2.0', id: asked?.id, ...frame });
      return request;
    }

    for (const result of [null, 0, '', false, {}, [1]]) {
      it(`resolves with the result ${JSON.stringify(result)}`, async () => {
        expect(await answer({ result })).to.deep.equal(result);
      });
    }

    it('takes a null error beside a result as none', async () => {
      expect(await answer({ result: 1, error: null })).to.equal(1);
    });

    const errors: { error: object; message: string; code?: number; data?: unknown }[] = [
      { error: { code: -5, message: 'no', data: [1] }, message: 'no', code: -5, data: [1] },
      { error: { code: -5, message: 'no', data: null }, message: 'no', code: -5, data: null },
      { error: { code: 'EX', message: 'no' }, message: 'no' },
      { error: { code: 1 }, message: 'JSON-RPC error', code: 1 },
      { error: { message: 7 }, message: 'JSON-RPC error' },
      { error: {}, message: 'JSON-RPC error' },
    ];
    for (const { error, message, code, data } of errors) {
      it(`rejects with what the error ${JSON.stringify(error)} tells`, async () => {
        const thrown = await rejectionOf(answer({ error }));
        expect(thrown).to.be.instanceOf(JsonRpcResponseError);
        expect(thrown).to.deep.include({ message, code, data });
      });
    }

    for (const frame of [{}, { error: null }, { error: 'text' }, { error: [1], result: 1 }, { error: 5 }]) {
      it(`rejects the malformed ${JSON.stringify(frame)} with SdkProtocolError (J11)`, async () => {
        expect(await rejectionOf(answer(frame))).to.be.instanceOf(SdkProtocolError);
      });
    }

    it('ignores an answer that nobody waits for', async () => {
      await rig.send({ id: 'req_unknown', result: 1 }, { id: 1, error: {} }, { id: '__proto__', result: 1 }, NOTE);
      expect(rig.heard).to.have.length(1);
      expect(rig.diagnostics).to.deep.equal([]);
      expect(rig.written()).to.deep.equal([]);
    });

    it('delivers all that stood before the end, then the end, in either order (B5)', async () => {
      for (const responseFirst of [true, false]) {
        const { transport, input, heard, written } = openTransport();
        const order: string[] = [];
        const request = transport.request('ask').then(() => order.push('answer'));
        void transport.closed.then(() => order.push('end'));
        await turns();
        const response = JSON.stringify({ id: written()[0]?.id, result: {} });
        const frames = [response, JSON.stringify(NOTE)];
        input.end((responseFirst ? frames : frames.reverse()).join('\n'));
        await transport.closed;
        await request;
        expect(heard).to.have.length(1);
        expect(order[0]).to.equal('answer');
      }
    });
  });
});
