import { expect } from 'chai';
import fc from 'fast-check';
import { rejectionOf } from '../support/rejection-of.js';
import { runs } from '../support/runs.js';
import { framesOf, openTransport, turns } from '../support/transport-rig.js';
import { openWriter, WriteLog } from '../support/write-log.js';

describe('JsonRpcLineTransport, writing', () => {
  describe('frames', () => {
    it('puts the id of a request before its params, and params in any case', async () => {
      const { transport, writtenText } = openTransport();
      for (const params of [undefined, { a: 1 }]) void transport.request('ask', params).catch(() => undefined);
      await turns();
      const id = '"id":"req_[0-9a-f]{32}"';
      const first = `{"jsonrpc":"2.0",${id},"method":"ask","params":{}}\n`;
      const second = `{"jsonrpc":"2.0",${id},"method":"ask","params":{"a":1}}\n`;
      expect(writtenText()).to.match(new RegExp(`^${first}${second}$`));
      transport.close();
    });

    it('gives every request an id of its own, in other connections too', async () => {
      const ids = new Set<unknown>();
      for (const { transport, written } of [openTransport(), openTransport()]) {
        for (let count = 0; count < 300; count += 1) void transport.request('ask').catch(() => undefined);
        await turns();
        for (const { id } of written()) ids.add(id);
        transport.close();
      }
      expect(ids.size).to.equal(600);
    });

    it('leaves out the params of a notification that has none, and splices encoded ones', async () => {
      const { transport, writtenText } = openTransport();
      transport.notify('a');
      transport.notify('b', { text: 'é' });
      transport.notifyEncoded('"c"', '{"n":1.50}');
      await transport.flush();
      expect(writtenText().split('\n')).to.deep.equal([
        '{"jsonrpc":"2.0","method":"a"}',
        '{"jsonrpc":"2.0","method":"b","params":{"text":"é"}}',
        '{"jsonrpc":"2.0","method":"\\"c\\"","params":{"n":1.50}}',
        '',
      ]);
    });

    it('sends a long body in pieces that are code points, in order with what stands around it', async () => {
      const { transport, output } = openWriter({}, new WriteLog({ highWaterMark: 64 }));
      const text = 'x🔥台'.repeat(200_000);
      transport.notify('before');
      transport.notifyEncoded('long', '{"n":1,"text":', JSON.stringify(text), ',"m":2}');
      transport.notify('after');
      await transport.flush();
      expect(Math.max(...output.writes.map((written) => written.length))).to.be.at.most(262_144);
      const frames = framesOf(output.writes.join(''));
      expect(frames.map(({ method }) => method)).to.deep.equal(['before', 'long', 'after']);
      expect(frames[1]?.params).to.deep.equal({ n: 1, text, m: 2 });
      transport.close();
    });

    it('counts a long body as queued until it has left', async () => {
      const { transport, output } = openWriter({ highWaterMark: 300_000 });
      output.held = true;
      const room = transport.notifyEncoded('long', '"', 'x'.repeat(1_000_000), '"');
      expect(room).to.be.a('promise');
      output.held = false;
      output.acceptOne();
      await room;
      transport.close();
    });

    it('refuses params that are no JSON, and writes nothing', async () => {
      const { transport, writtenText } = openTransport();
      expect(() => transport.notify('a', { n: 1n })).to.throw(TypeError);
      expect(await rejectionOf(transport.request('a', { n: 1n }))).to.be.instanceOf(TypeError);
      await turns();
      expect(writtenText()).to.equal('');
    });

    it('never mixes the bytes of two writers', async () => {
      const text = fc.string({ unit: fc.constantFrom('台', '🔥', 'x', '\n'), maxLength: 40 });
      await fc.assert(
        fc.asyncProperty(fc.array(fc.array(text, { maxLength: 5 }), { maxLength: 30 }), async (writers) => {
          const { transport, output } = openWriter({}, new WriteLog({ highWaterMark: 64 }));
          await Promise.all(
            writers.map(async (texts, writer) => {
              for (const one of texts) await transport.notify('say', { writer, text: one });
            }),
          );
          await transport.flush();
          const said = framesOf(output.writes.join('')).map(({ params }) => params as { writer: number; text: string });
          for (const [writer, texts] of writers.entries()) {
            expect(said.filter((one) => one.writer === writer).map((one) => one.text)).to.deep.equal(texts);
          }
          transport.close();
        }),
        runs(50),
      );
    });
  });

  describe('batches', () => {
    it('writes once for all frames of a tick', async () => {
      const { transport, output } = openWriter();
      transport.notify('a');
      transport.notify('b');
      await turns();
      transport.notify('c');
      await transport.flush();
      expect(output.methods).to.deep.equal([['a', 'b'], ['c']]);
    });

    it('writes at once when 32 Ki characters are queued', () => {
      const { transport, output } = openWriter();
      const params = { text: 'x'.repeat(1000) };
      for (let count = 0; count < 40; count += 1) transport.notify('a', params);
      expect(output.writes).to.have.length(1);
      expect(output.writes[0]?.length).to.be.within(32_768, 34_000);
    });

    it('holds frames while the output asks to wait, and sends them together after it', async () => {
      const { transport, output } = openWriter({}, new WriteLog({ highWaterMark: 1 }));
      output.held = true;
      for (const method of ['a', 'b', 'c']) {
        transport.notify(method);
        await turns();
      }
      expect(output.methods).to.deep.equal([['a']]);
      output.acceptOne();
      await turns();
      expect(output.methods).to.deep.equal([['a'], ['b', 'c']]);
    });

    it('waits for an output that was full before', async () => {
      const output = new WriteLog({ highWaterMark: 1 });
      output.held = true;
      output.write('{"method":"theirs"}\n');
      const { transport } = openWriter({}, output);
      transport.notify('ours');
      await turns();
      expect(output.writableLength).to.equal('{"method":"theirs"}\n'.length);
      output.acceptOne();
      await turns();
      expect(output.methods).to.deep.equal([['theirs'], ['ours']]);
    });
  });

  describe('beforeWrite', () => {
    it('runs before each write, after its frames were queued', async () => {
      const order: string[] = [];
      const output = new WriteLog();
      const { transport } = openWriter(
        { beforeWrite: () => void order.push(`barrier ${output.writes.length}`) },
        output,
      );
      transport.notify('a');
      transport.notify('b');
      expect(order).to.deep.equal([]);
      await turns();
      transport.notify('c');
      await turns();
      expect(order).to.deep.equal(['barrier 0', 'barrier 1']);
      expect(output.methods).to.deep.equal([['a', 'b'], ['c']]);
    });

    it('delays its write and all later ones until its promise settles', async () => {
      const barriers: (() => void)[] = [];
      const { transport, output } = openWriter({ beforeWrite: () => new Promise((resolve) => barriers.push(resolve)) });
      transport.notify('a');
      await turns();
      transport.notify('b');
      transport.notify('c');
      await turns();
      expect(output.methods).to.deep.equal([]);
      expect(barriers).to.have.length(1);
      barriers[0]?.();
      await turns();
      expect(output.methods).to.deep.equal([['a']]);
      expect(barriers).to.have.length(2);
      const flushed = transport.flush();
      barriers[1]?.();
      await flushed;
      expect(output.methods).to.deep.equal([['a'], ['b', 'c']]);
    });

    it('covers frames that it queues itself with a run of its own', async () => {
      const runs: number[] = [];
      const { transport, output } = openWriter({
        beforeWrite: () => {
          runs.push(output.writes.length);
          if (runs.length === 1) transport.notify('from the barrier');
        },
      });
      transport.notify('a', { text: 'x'.repeat(40_000) });
      expect(output.methods).to.deep.equal([['a']]);
      await turns();
      expect(output.methods).to.deep.equal([['a'], ['from the barrier']]);
      expect(runs).to.deep.equal([0, 1]);
    });

    const failures: Record<string, () => void | Promise<void>> = {
      throws: () => {
        throw new Error('disk full');
      },
      rejects: () => Promise.reject(new Error('disk full')),
    };
    for (const [title, beforeWrite] of Object.entries(failures)) {
      it(`that ${title} is reported, and the frames leave in order`, async () => {
        const { transport, output, diagnostics } = openWriter({ beforeWrite });
        transport.notify('a');
        await turns();
        transport.notify('b');
        await transport.flush();
        expect(output.methods).to.deep.equal([['a'], ['b']]);
        expect(diagnostics.map(({ kind, cause }) => `${kind}: ${cause}`)).to.deep.equal([
          'write-failed: Error: disk full',
          'write-failed: Error: disk full',
        ]);
      });
    }
  });
});
