import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { JsonRpcLineTransport } from '../../src/protocol/index.js';
import { rejectionOf } from '../support/rejection-of.js';
import { openTransport, type TransportRig, turns } from '../support/transport-rig.js';

const NOTE = '{"method":"note"}\n';

describe('JsonRpcLineTransport, its end', () => {
  const broken = new Error('broken');
  const endings: {
    title: string;
    end: (rig: TransportRig) => void;
    message: string;
    outcome: string | undefined;
  }[] = [
    {
      title: 'close',
      end: ({ transport }) => transport.close(),
      message: 'JSON-RPC transport closed',
      outcome: undefined,
    },
    {
      title: 'the end of the input',
      end: ({ input }) => input.end(),
      message: 'JSON-RPC input closed',
      outcome: undefined,
    },
    {
      title: 'an input that is destroyed (J12)',
      end: ({ input }) => input.destroy(),
      message: 'JSON-RPC input closed',
      outcome: undefined,
    },
    {
      title: 'an input that fails (J12)',
      end: ({ input }) => input.destroy(broken),
      message: 'broken',
      outcome: 'broken',
    },
    {
      title: 'an output that is destroyed (J12)',
      end: ({ output }) => output.destroy(),
      message: 'JSON-RPC output closed',
      outcome: 'JSON-RPC output closed',
    },
    {
      title: 'an output that fails (J12)',
      end: ({ output }) => output.destroy(broken),
      message: 'broken',
      outcome: 'broken',
    },
  ];
  for (const { title, end, message, outcome } of endings) {
    describe(`by ${title}`, () => {
      it('rejects every pending and every later request, and settles closed', async () => {
        const rig = openTransport();
        const pending = [rig.transport.request('a'), rig.transport.request('b')].map((request) => rejectionOf(request));
        await turns();
        end(rig);
        expect((await Promise.all(pending)).map((error) => error.message)).to.deep.equal([message, message]);
        expect((await rig.transport.closed)?.message).to.equal(outcome);
        expect((await rejectionOf(rig.transport.request('late'))).message).to.equal(message);
        rig.transport.close();
        expect((await rejectionOf(rig.transport.request('later'))).message).to.equal('JSON-RPC transport closed');
      });

      it('rejects requests of the same tick', async () => {
        const rig = openTransport();
        const pending = rejectionOf(rig.transport.request('a'));
        end(rig);
        expect((await pending).message).to.equal(message);
      });

      it('is noticed without start', async () => {
        const rig = openTransport({}, { start: false });
        const pending = rejectionOf(rig.transport.request('a'));
        end(rig);
        if (title === 'the end of the input') rig.transport.start();
        expect((await pending).message).to.equal(message);
      });

      it('is noticed when it came first', async () => {
        const rig = openTransport({}, { start: false });
        rig.transport.close();
        end(rig);
        await turns();
        const late = new JsonRpcLineTransport(rig.input, rig.output);
        const pending = rejectionOf(late.request('a'));
        late.start();
        if (title === 'close') late.close();
        expect((await pending).message).to.equal(message);
        expect((await late.closed)?.message).to.equal(outcome);
      });

      it('leaves nothing on the streams but a guard against errors, however often', async () => {
        const rig = openTransport({}, { start: false });
        rig.transport.close();
        const names = ['data', 'end', 'close', 'drain', 'finish', 'resume'];
        const count = (): number[] =>
          [rig.input, rig.output].flatMap((stream) => names.map((name) => stream.listenerCount(name)));
        const before = count();
        for (let round = 0; round < 20; round += 1) {
          const transport = new JsonRpcLineTransport(rig.input, rig.output);
          transport.start();
          if (round === 19) end(rig);
          await turns();
          transport.close();
        }
        if (rig.output.destroyed || rig.input.destroyed) await turns();
        expect(count()).to.deep.equal(before);
        expect([rig.input, rig.output].map((stream) => stream.listenerCount('error'))).to.deep.equal([1, 1]);
      });
    });
  }

  it('keeps writing after the end of the input: answers on their way still leave', async () => {
    const { transport, input, written } = openTransport();
    let answer: ((value: unknown) => void) | undefined;
    transport.onRequest(() => new Promise((resolve) => (answer = resolve)));
    input.end('{"id":1,"method":"slow"}');
    await transport.closed;
    transport.notify('closing');
    answer?.('done');
    await turns();
    expect(written()).to.deep.equal([
      { jsonrpc: '2.0', method: 'closing' },
      { jsonrpc: '2.0', id: 1, result: 'done' },
    ]);
  });

  it('keeps reading after its owner ended the output: the last answers still come', async () => {
    const { transport, input, output, written, heard } = openTransport();
    const request = transport.request('ask');
    await turns();
    output.end();
    await turns();
    expect((await rejectionOf(transport.request('late'))).message).to.equal('JSON-RPC output closed');
    transport.notify('dropped');
    input.end(`${NOTE}${JSON.stringify({ id: written()[0]?.id, result: 1 })}`);
    expect(await request).to.equal(1);
    expect(await transport.closed).to.equal(undefined);
    expect(heard).to.have.length(1);
  });

  it('hears what was sent before the output broke (B5)', async () => {
    const { transport, input, output, written, heard } = openTransport();
    const request = transport.request('ask');
    await turns();
    output.destroy(broken);
    input.write(`${JSON.stringify({ id: written()[0]?.id, result: 1 })}\n${NOTE}`);
    expect(await request).to.equal(1);
    expect(await transport.closed).to.equal(broken);
    expect(heard).to.have.length(1);
  });

  it('hears it too when the input was paused meanwhile (B4)', async () => {
    const { transport, input, output, written, heard } = openTransport();
    const request = transport.request('ask');
    await turns();
    input.pause();
    input.write(`${JSON.stringify({ id: written()[0]?.id, result: 1 })}\n${NOTE}`);
    output.destroy(broken);
    await turns();
    input.resume();
    expect(await request).to.equal(1);
    expect(await transport.closed).to.equal(broken);
    expect(heard).to.have.length(1);
  });

  it('writes what is queued when it is closed, its barrier before it', async () => {
    const output = new PassThrough();
    const order: string[] = [];
    output.on('data', (chunk) => order.push(String(chunk)));
    const transport = new JsonRpcLineTransport(new PassThrough(), output, {
      beforeWrite: async () => void order.push('barrier'),
    });
    transport.notify('bye');
    transport.close();
    transport.close();
    transport.notify('too late');
    await turns();
    expect(order).to.deep.equal(['barrier', '{"jsonrpc":"2.0","method":"bye"}\n']);
    expect(output.destroyed).to.equal(false);
  });

  it('leaves the streams to a next transport, no frame lost between the two', async () => {
    const { transport, input, output } = openTransport();
    transport.close();
    input.write(NOTE);
    await turns();
    const heard: string[] = [];
    const next = new JsonRpcLineTransport(input, output);
    next.onNotification((method) => heard.push(method));
    next.start();
    await turns();
    expect(heard).to.deep.equal(['note']);
    next.close();
  });

  it('survives errors of its streams after it was closed', async () => {
    const { transport, input, output } = openTransport();
    transport.notify('a');
    transport.close();
    input.destroy(broken);
    output.destroy(broken);
    await turns();
    expect([input.errored, output.errored]).to.deep.equal([broken, broken]);
  });

  describe('of a request by its signal', () => {
    it('writes nothing when it is aborted already', async () => {
      const { transport, writtenText } = openTransport();
      expect(await rejectionOf(transport.request('a', {}, AbortSignal.abort(broken)))).to.equal(broken);
      await turns();
      expect(writtenText()).to.equal('');
    });

    const reasons: { reason: unknown; message: string }[] = [
      { reason: broken, message: 'broken' },
      { reason: undefined, message: 'This operation was aborted' },
      { reason: 'enough', message: 'JSON-RPC request aborted: enough' },
      { reason: 7, message: 'JSON-RPC request aborted: 7' },
    ];
    for (const { reason, message } of reasons) {
      it(`rejects with ${message}, and ignores the late answer`, async () => {
        const { transport, send, written, diagnostics } = openTransport();
        const controller = new AbortController();
        const request = rejectionOf(transport.request('a', {}, controller.signal));
        await turns();
        controller.abort(reason);
        expect((await request).message).to.equal(message);
        await send({ id: written()[0]?.id, result: 1 });
        expect(diagnostics).to.deep.equal([]);
      });
    }

    it('leaves no listener on the signal, however the request ends', async () => {
      const { transport, send, written } = openTransport();
      const { signal } = new AbortController();
      let listeners = 0;
      const { addEventListener, removeEventListener } = signal;
      signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
        listeners += 1;
        addEventListener.apply(signal, args);
      };
      signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
        listeners -= 1;
        removeEventListener.apply(signal, args);
      };
      const requests = ['a', 'b', 'c'].map((method) => transport.request(method, {}, signal));
      const settled = Promise.allSettled(requests);
      expect(listeners).to.equal(3);
      await turns();
      const [a, b] = written();
      await send({ id: a?.id, result: 1 }, { id: b?.id, error: {} });
      transport.close();
      await settled;
      expect(listeners).to.equal(0);
    });
  });
});
