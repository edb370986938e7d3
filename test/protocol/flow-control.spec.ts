import type { Writable } from 'node:stream';
import { expect } from 'chai';
import type { JsonRpcLineTransport } from '../../src/protocol/index.js';
import { rejectionOf } from '../support/rejection-of.js';
import { turns, until } from '../support/transport-rig.js';
import { openWriter, WriteLog } from '../support/write-log.js';

describe('JsonRpcLineTransport, its output', () => {
  describe('the high-water mark', () => {
    const params = { text: 'x'.repeat(1000) };

    it('asks to wait above it, and fulfils below it', async () => {
      const { transport, output } = openWriter({ highWaterMark: 5000 }, new WriteLog({ highWaterMark: 1 }));
      output.held = true;
      transport.notify('first');
      await turns();
      const waits = [1, 2, 3, 4, 5, 6].map(() => transport.notify('a', params));
      expect(waits.map((wait) => wait !== undefined)).to.deep.equal([false, false, false, false, true, true]);
      let room = false;
      void waits[5]?.then(() => {
        room = true;
      });
      await turns();
      expect(room).to.equal(false);
      output.acceptOne();
      await waits[4];
      await waits[5];
      expect(transport.notify('b')).to.equal(undefined);
    });

    const endings: Record<string, (transport: JsonRpcLineTransport, output: Writable) => void> = {
      'the transport is closed': (transport) => transport.close(),
      'the output is destroyed': (_transport, output) => output.destroy(),
      'the output fails': (_transport, output) => output.destroy(new Error('EPIPE')),
    };
    for (const [title, end] of Object.entries(endings)) {
      it(`lets everybody go when ${title}`, async () => {
        const { transport, output } = openWriter({ highWaterMark: 100 }, new WriteLog({ highWaterMark: 1 }));
        output.held = true;
        transport.notify('first', params);
        await turns();
        const wait = transport.notify('a', params);
        expect(wait).to.be.instanceOf(Promise);
        end(transport, output);
        await wait;
        expect(transport.notify('b', params)).to.equal(undefined);
      });
    }
  });

  it('lets go of who waits for room when it is closed behind a barrier that never settles', async () => {
    const { transport } = openWriter({ highWaterMark: 1, beforeWrite: () => new Promise(() => undefined) });
    const wait = transport.notify('a');
    expect(wait).to.be.instanceOf(Promise);
    await turns();
    transport.close();
    await wait;
  });

  describe('flush', () => {
    it('resolves at once with nothing to write, or nothing any more', async () => {
      const { transport } = openWriter();
      await transport.flush();
      transport.notify('a');
      await transport.flush();
      await transport.flush();
    });

    it('waits until the output has accepted what was sent before, not after', async () => {
      const { transport, output } = openWriter();
      output.held = true;
      const settled: string[] = [];
      transport.notify('a');
      void transport.flush().then(() => settled.push('a'));
      await turns();
      transport.notify('b');
      void transport.flush().then(() => settled.push('b'));
      await turns();
      expect(settled).to.deep.equal([]);
      output.acceptOne();
      await until(() => settled.length > 0);
      await turns();
      expect(settled).to.deep.equal(['a']);
      output.acceptOne();
      await until(() => settled.length > 1);
    });

    it('rejects when the output fails, and ever after', async () => {
      const { transport, output } = openWriter();
      output.held = true;
      transport.notify('a');
      const flushed = rejectionOf(transport.flush());
      const failure = new Error('EPIPE');
      output.destroy(failure);
      expect(await flushed).to.equal(failure);
      expect(await rejectionOf(transport.flush())).to.equal(failure);
    });

    it('waits for what close handed to the output', async () => {
      const { transport, output } = openWriter({}, new WriteLog({ highWaterMark: 1 }));
      transport.notify('a');
      transport.notify('b');
      transport.close();
      await transport.flush();
      expect(output.methods).to.deep.equal([['a', 'b']]);
    });
  });

  it('rejects the requests that its owner ended the output in front of', async () => {
    const { transport, output } = openWriter({}, new WriteLog({ highWaterMark: 1 }));
    output.held = true;
    transport.notify('a');
    await turns();
    const request = rejectionOf(transport.request('held back'));
    const flushed = rejectionOf(transport.flush());
    await turns();
    output.end();
    output.acceptOne();
    for (const error of await Promise.all([request, flushed])) expect(error.message).to.equal('JSON-RPC output closed');
    expect(output.methods).to.deep.equal([['a']]);
  });

  it('rejects the requests of a write that throws, and no others', async () => {
    const { transport, output, diagnostics } = openWriter();
    const boom = new Error('refused');
    const write = output.write;
    output.write = () => {
      throw boom;
    };
    const lost = [transport.request('a'), transport.request('b')].map((request) => rejectionOf(request));
    const flushed = rejectionOf(transport.flush());
    expect(await Promise.all([...lost, flushed])).to.deep.equal([boom, boom, boom]);
    expect(diagnostics.map(({ kind, cause }) => ({ kind, cause }))).to.deep.equal([
      { kind: 'write-failed', cause: boom },
    ]);
    output.write = write;
    const later = rejectionOf(transport.request('c'));
    await transport.flush();
    expect(output.methods).to.deep.equal([['c']]);
    transport.close();
    expect((await later).message).to.equal('JSON-RPC transport closed');
  });
});
