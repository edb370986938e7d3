import { expect } from 'chai';
import { FrameTooLargeError } from '../../src/protocol/index.js';
import { rejectionOf } from '../support/rejection-of.js';
import { openTransport, turns } from '../support/transport-rig.js';

const CAP = 8192;
const REFUSAL = { code: -32600, message: `a frame exceeds the limit of ${CAP} bytes` };

/** `{…,"params":{"text":"xxx…"}}` of exactly `bytes` bytes. */
function frameOf(bytes: number, members: string): string {
  const [head, tail] = [`{${members}"params":{"text":"`, '"}}'];
  return head + 'x'.repeat(bytes - head.length - tail.length) + tail;
}

function openCapped() {
  const limits: number[] = [];
  return { limits, ...openTransport({ maxFrameBytes: CAP, onFrameTooLarge: (limit) => limits.push(limit) }) };
}

describe('JsonRpcLineTransport, frames at the cap (A4)', () => {
  for (const bytes of [CAP - 1, CAP]) {
    it(`reads ${bytes} of ${CAP} bytes`, async () => {
      const { send, heard, limits } = openCapped();
      await send(frameOf(bytes, '"method":"a",'));
      expect(heard).to.have.length(1);
      expect(limits).to.deep.equal([]);
    });
  }

  const answerable: Record<string, { members: string; id: unknown }> = {
    'a string id': { members: '"jsonrpc":"2.0","id":"req_1","method":"session/prompt",', id: 'req_1' },
    'a number as id': { members: '"jsonrpc":"2.0","id":7,"method":"a",', id: 7 },
    'members in another order': { members: ' "method" : "a" ,\t"id" : -1.5e0 ,', id: -1.5 },
    'escapes in the id': { members: '"id":"a\\"\\u00e9","method":"a",', id: 'a"é' },
    'other short members': { members: '"trace":null,"id":"a","v":true,"method":"a",', id: 'a' },
    'a name like __proto__': { members: '"__proto__":1,"id":"__proto__","method":"__proto__",', id: '__proto__' },
  };
  for (const [title, { members, id }] of Object.entries(answerable)) {
    it(`answers a request with ${title} with -32600, naming the limit`, async () => {
      const { send, written, heard, diagnostics, limits } = openCapped();
      await send(frameOf(CAP + 1, members), { method: 'next' });
      expect(written()).to.deep.equal([{ jsonrpc: '2.0', id, error: REFUSAL }]);
      expect(heard).to.deep.equal([{ method: 'next', params: {} }]);
      expect(limits).to.deep.equal([]);
      expect(diagnostics).to.deep.equal([]);
    });
  }

  it('answers a request that is glued to junk', async () => {
    const { send, written } = openCapped();
    await send(`{banner} ${frameOf(CAP + 1, '"jsonrpc":"2.0","id":"a","method":"a",')}`);
    expect(written()).to.deep.equal([{ jsonrpc: '2.0', id: 'a', error: REFUSAL }]);
  });

  const lost: Record<string, string> = {
    'a notification': frameOf(CAP + 1, '"jsonrpc":"2.0","method":"a",'),
    'a response': frameOf(CAP + 1, '"jsonrpc":"2.0","id":"a",'),
    'a request whose id comes after the params': `${frameOf(CAP + 1, '"method":"a",').slice(0, -1)},"id":1}`,
    'an id and a method inside of the params': frameOf(CAP + 1, '"method":"a","params":{"id":"x"},'),
    'a rounded id': frameOf(CAP + 1, '"id":9007199254740993,"method":"a",'),
    'an id that is cut off': `{"id":"${'x'.repeat(CAP)}","method":"a"}`,
    'an id of more than the head': `{"method":"a","id":${'1'.repeat(CAP)}}`,
    'no JSON': 'x'.repeat(CAP + 1),
    'text that only looks like members': `"id":1,"method":"a",${'x'.repeat(CAP)}`,
    blanks: ' '.repeat(CAP + 1),
  };
  for (const [title, line] of Object.entries(lost)) {
    it(`skips and reports ${title}, and reads on`, async () => {
      const { send, written, heard, diagnostics, limits } = openCapped();
      await send(line, { method: 'next' });
      expect(written()).to.deep.equal([]);
      expect(limits).to.deep.equal([CAP]);
      const message = `a frame exceeds the limit of ${CAP} bytes; it was skipped`;
      expect(diagnostics).to.deep.equal([{ kind: 'frame-too-large', message }]);
      expect(heard).to.deep.equal([{ method: 'next', params: {} }]);
    });
  }

  it('fails the running requests, and serves later ones', async () => {
    const { transport, send, written } = openCapped();
    const failures = [transport.request('a'), transport.request('b')].map((request) => rejectionOf(request));
    await send(lost['a response'] ?? '');
    for (const failure of await Promise.all(failures)) {
      expect(failure).to.be.instanceOf(FrameTooLargeError).with.property('limit', CAP);
    }
    const later = transport.request('c');
    await turns();
    await send({ id: written().at(-1)?.id, result: 1 });
    expect(await later).to.equal(1);
  });
});
