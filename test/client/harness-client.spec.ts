import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import {
  FrameTooLargeError,
  HarnessClient,
  type HarnessClientOptions,
  JsonRpcResponseError,
  RequestTimeoutError,
  SdkProtocolError,
  TransportClosedError,
  type TransportDiagnostic,
} from '../../src/client/index.js';
import {
  exit,
  hang,
  kill,
  receipt,
  reply,
  replyError,
  type Step,
  serverInfo,
  status,
  write,
  writeError,
} from '../support/fake-runtime-script.js';
import { rejectionOf } from '../support/rejection-of.js';
import { useFakeRuntimes } from './fake-runtimes.js';

/** The frame's text without a newline, which the caller adds where the case wants it. */
const frame = (members: object): string => JSON.stringify({ jsonrpc: '2.0', ...members });
const noted = (text: string): string => frame({ method: 'noted', params: { text } });

const openDescriptors = (): number => readdirSync('/proc/self/fd').length;

describe('HarnessClient', () => {
  const patience = { disposeEofGraceMs: 500, disposeGraceMs: 2000 };
  const launch = useFakeRuntimes((command, options?: HarnessClientOptions) => {
    return new HarnessClient({ launch: command, ...patience, ...options });
  });

  describe('requests', () => {
    it('initializes with the options, and with what the call adds', async () => {
      const { client, runtime } = launch({}, { reasoningEffort: 'low', maxTokens: 9, cwd: 'job', model: 'm' });
      expect(await client.initialize()).to.deep.equal(serverInfo);
      await client.initialize({ model: 'other', cwd: '/srv' });
      const common = { provider: 'deepseek-official', reasoningEffort: 'low', maxTokens: 9 };
      expect(runtime.params('initialize')).to.deep.equal([
        { ...common, model: 'm', cwd: `${process.cwd()}/job` },
        { ...common, model: 'other', cwd: '/srv' },
      ]);
    });

    it('starts nothing before its first use, and one process for all of them', async () => {
      const { client, runtime } = launch({ on: { echo: [[reply({ ok: true })]] } });
      client.subscribe();
      expect(runtime.sightings()).to.deep.equal([]);
      client.start();
      client.start();
      await Promise.all([client.request('echo', { a: 1 }), client.request('echo')]);
      expect(runtime.of('start')).to.have.length(1);
      expect(runtime.params('echo')).to.deep.equal([{ a: 1 }, {}]);
    });

    it('gives the process its directory and exactly its environment, with a marker of its own', async () => {
      const env = { A: '1', DSH_RUNTIME_MARKER: 'of an outer one' };
      const { client, runtime } = launch({}, { env, processCwd: '/usr', dshHome: '/home/dsh' });
      await client.initialize();
      const [start] = runtime.of('start');
      expect(start?.cwd).to.equal('/usr');
      // Node hands its coverage variable to every child.
      const { DSH_RUNTIME_MARKER: marker, NODE_V8_COVERAGE: _, ...rest } = start?.env ?? {};
      expect(rest).to.deep.equal({ A: '1', DSH_HOME: '/home/dsh' });
      expect(marker).to.match(/^[0-9a-f-]{36}$/);
      expect(runtime.params('initialize')[0]).to.have.property('cwd', '/usr');
    });

    it('carries the error of the runtime through', async () => {
      const data = { violations: [{ path: 'model' }] };
      const errors = [
        replyError({ code: -32602, message: 'bad', data }),
        replyError({ message: 'no code', code: 'x' }),
        replyError({}),
      ];
      const { client } = launch({ on: { odd: errors.map((step) => [step]) } });
      const seen: unknown[] = [];
      for (const _ of errors) {
        const thrown = (await rejectionOf(client.request('odd'))) as JsonRpcResponseError;
        expect(thrown).to.be.instanceOf(JsonRpcResponseError);
        seen.push([thrown.code, thrown.message, thrown.data]);
      }
      expect(seen).to.deep.equal([
        [-32602, 'bad', data],
        [undefined, 'no code', undefined],
        [undefined, 'JSON-RPC error', undefined],
      ]);
    });

    const malformed: readonly [string, Step, (client: HarnessClient) => Promise<unknown>, RegExp][] = [
      [
        'initialize',
        reply({ serverInfo: { name: 'x' } }),
        (c) => c.initialize(),
        /^initialize returned no server identity: \{"serverInfo":\{"name":"x"\}\}$/,
      ],
      ['initialize', reply(null), (c) => c.initialize(), /^initialize returned no server identity: null$/],
      [
        'session/prompt',
        reply({ messageId: 7 }),
        (c) => c.prompt('s', []),
        /^session\/prompt returned no message id: \{"messageId":7\}$/,
      ],
      ['session/prompt', reply('m'), (c) => c.prompt('s', []), /^session\/prompt returned no message id: "m"$/],
      ['any', { do: 'respond', members: { error: 'text' } }, (c) => c.request('any'), /neither a result nor an error/],
    ];
    for (const [method, step, call, message] of malformed) {
      it(`refuses ${JSON.stringify(step)} as an answer to ${method} (J11)`, async () => {
        const { client } = launch({ on: { [method]: [[step]] } });
        const thrown = await rejectionOf(call(client));
        expect(thrown).to.be.instanceOf(SdkProtocolError);
        expect(thrown.message).to.match(message);
      });
    }

    it('times out per call and per client, ignores the late answer, and stays usable', async () => {
      const { client } = launch(
        { on: { slow: [[hang]], late: [[{ do: 'delay', ms: 60 }, reply('late')]], echo: [[reply('ok')]] } },
        { requestTimeoutMs: 5000 },
      );
      await client.initialize();
      const perCall = (await rejectionOf(client.request('slow', {}, 20))) as RequestTimeoutError;
      expect(perCall).to.be.instanceOf(RequestTimeoutError).and.include({ method: 'slow', timeoutMs: 20 });
      expect(perCall.message).to.equal('slow timed out after 20ms waiting for the DeepSeek Harness runtime');
      expect(await rejectionOf(client.request('late', {}, 10))).to.be.instanceOf(RequestTimeoutError);
      expect(await client.request('late')).to.equal('late');
      expect(await client.request('echo')).to.equal('ok');
    });

    it('bounds every request by requestTimeoutMs, and the handshake by its own', async () => {
      const script = { on: { echo: [[reply(1)]], slow: [[hang]], initialize: [[writeError('still loading'), hang]] } };
      const bounds = { requestTimeoutMs: 50, initializeTimeoutMs: 1000, shutdownTimeoutMs: 10 };
      const { client } = launch(script, bounds);
      await client.request('echo', {}, 10_000);
      expect(await rejectionOf(client.request('slow'))).to.include({ method: 'slow', timeoutMs: 50 });
      expect((await rejectionOf(client.initialize())).message).to.equal(
        'initialize timed out after 1000ms waiting for the DeepSeek Harness runtime\nstderr tail:\nstill loading',
      );
    });

    it('rejects params that are no JSON with what is wrong with them', async () => {
      const { client } = launch({});
      const circular: Record<string, unknown> = {};
      circular.self = circular;
      expect(await rejectionOf(client.request('echo', circular))).to.be.instanceOf(TypeError);
    });

    it('accepts an answer that comes after the events it caused', async () => {
      const { client } = launch({ on: { 'session/prompt': [[status('running'), status('idle'), receipt]] } });
      const subscription = client.subscribeSessionTree('s');
      expect(await client.prompt('s', [{ type: 'text', text: 'hi' }])).to.match(/^[0-9a-f-]{36}$/);
      expect([subscription.tryNext(), subscription.tryNext()].map((item) => item?.method)).to.deep.equal(
        Array(2).fill('session.status'),
      );
    });
  });

  describe('framing', () => {
    const texts: readonly [string, string, Parameters<typeof write>[1]][] = [
      ['a CJK character and an emoji in one-byte chunks (A1)', '台 and 🔥', { chunkBytes: 1, gapMs: 1 }],
      ['raw Unicode line separators, and VT and FF (A2)', 'a\u2028b\u2029c\u0085d\u000be\u000cf', {}],
    ];
    for (const [what, text, how] of texts) {
      it(`reads ${what}`, async () => {
        const { client } = launch({ on: { go: [[write(`${noted(text)}\n`, how), reply(null)]] } });
        const subscription = client.subscribe();
        await client.request('go');
        expect(subscription.tryNext()).to.deep.equal({ method: 'noted', params: { text } });
      });
    }

    it('accepts CRLF, blank lines, junk, and a frame glued to junk (A3)', async () => {
      const diagnostics: TransportDiagnostic[] = [];
      const lines = ['banner!', '', noted('one'), '[1]', `log: ${noted('two')}`, noted('three')];
      const { client } = launch(
        { on: { go: [[write(lines.map((line) => `${line}\r\n`).join('')), reply(null)]] } },
        { onDiagnostic: (diagnostic) => diagnostics.push(diagnostic) },
      );
      const subscription = client.subscribe();
      await client.request('go');
      const seen = ['one', 'two', 'three'].map(() => subscription.tryNext()?.params);
      expect(seen).to.deep.equal([{ text: 'one' }, { text: 'two' }, { text: 'three' }]);
      expect(diagnostics.map(({ kind }) => kind)).to.include('junk');
    });

    it('reads a frame up to the limit; a longer one fails what runs, and the process lives on (A4)', async () => {
      const limit = 100_000;
      const padded = (size: number): string => noted('x'.repeat(size - noted('').length));
      const { client, runtime } = launch(
        {
          on: {
            fits: [[write(`${padded(limit)}\n`), reply(1)]],
            over: [[write(`${padded(limit + 1)}\n`), hang]],
            echo: [[reply(2)]],
          },
        },
        { maxFrameBytes: limit },
      );
      const subscription = client.subscribe();
      await client.request('fits');
      const thrown = await rejectionOf(client.request('over'));
      expect(thrown).to.be.instanceOf(FrameTooLargeError).and.include({ limit });
      expect((await subscription.next()).params)
        .to.have.property('text')
        .with.length.above(90_000);
      expect(await rejectionOf(subscription.next())).to.be.instanceOf(FrameTooLargeError);
      expect(await client.request('echo')).to.equal(2);
      expect(client.subscribe().failure).to.equal(undefined);
      expect(runtime.of('start')).to.have.length(1);
    });

    it('reads a frame of many megabytes in small chunks whole (A5)', async () => {
      const part = 'x'.repeat(8192);
      const [head, tail] = noted('|').split('|') as [string, string];
      const { client } = launch({
        on: { go: [[write(head), write(part, { repeat: 2048 }), write(`${tail}\n`), reply(null)]] },
      });
      const subscription = client.subscribe();
      await client.request('go');
      expect(subscription.tryNext()?.params)
        .to.have.property('text')
        .with.length(8192 * 2048);
    });

    it('skips an endless line without keeping it (A5)', async () => {
      const { client } = launch(
        { on: { go: [[write('x'.repeat(65_536), { repeat: 1600 }), write('\n'), hang]] } },
        { maxFrameBytes: 1 << 20 },
      );
      await client.initialize();
      const before = process.memoryUsage().arrayBuffers;
      expect(await rejectionOf(client.request('go'))).to.be.instanceOf(FrameTooLargeError);
      expect(process.memoryUsage().arrayBuffers - before).to.be.below(50e6);
    });
  });

  describe('the end of the process', () => {
    it('rejects all that is pending with exit code and stderr, the unterminated line too (E5)', async () => {
      const { client } = launch({
        on: { die: [[writeError('台 warning\nfatal: 🔥', { chunkBytes: 1 }), exit(7)]], slow: [[hang]] },
      });
      const pending = Array.from({ length: 100 }, () => rejectionOf(client.request('slow')));
      const [thrown] = (await Promise.all([rejectionOf(client.request('die')), ...pending])) as TransportClosedError[];
      expect(thrown).to.be.instanceOf(TransportClosedError);
      expect(thrown).to.include({ reason: 'DeepSeek Harness runtime exited', exitCode: 7, signal: undefined });
      expect(thrown?.message).to.equal(
        'DeepSeek Harness runtime exited\nexit code: 7\nstderr tail:\n台 warning\nfatal: 🔥',
      );
      for (const other of await Promise.all(pending)) expect(other).to.include({ exitCode: 7 });
    });

    it('names the signal, and refuses later requests at once', async () => {
      const { client } = launch({ on: { die: [[kill('SIGKILL')]] } });
      const subscription = client.subscribe();
      expect(await rejectionOf(client.request('die'))).to.include({ signal: 'SIGKILL', exitCode: undefined });
      const later = await rejectionOf(client.request('echo'));
      expect(later).to.include({ reason: 'DeepSeek Harness runtime is not running', signal: 'SIGKILL' });
      expect(await rejectionOf(subscription.next())).to.be.instanceOf(TransportClosedError);
      expect(client.subscribe().failure).to.be.instanceOf(TransportClosedError);
    });

    it('delivers what was written before the exit, then the end (B4, B5)', async () => {
      const bulk = `${noted('x'.repeat(2000))}\n`;
      const { client } = launch({
        on: { go: [[write(bulk, { repeat: 1000 }), reply('bye'), write(noted('last')), exit(0)]] },
      });
      await client.initialize();
      const subscription = client.subscribe();
      const answer = client.request('go');
      // The host is busy: all of it and the exit are there before a byte is read.
      const until = Date.now() + 300;
      while (Date.now() < until);
      expect(await answer).to.equal('bye');
      let count = 0;
      for (;;) {
        const next = await subscription.next().catch((thrown: Error) => thrown);
        if (next instanceof Error) {
          expect(next).to.include({ reason: 'DeepSeek Harness runtime exited', exitCode: 0 });
          break;
        }
        count++;
      }
      expect(count).to.equal(1001);
    });

    it('survives a runtime that leaves while a large prompt is on its way (B1, J12)', async () => {
      const { client } = launch({ boot: [{ do: 'delay', ms: 50 }, { do: 'close', stream: 'stdin' }, exit(3)] });
      const thrown = await rejectionOf(client.prompt('s', [{ type: 'text', text: 'x'.repeat(5_000_000) }]));
      expect(thrown).to.be.instanceOf(TransportClosedError).and.include({ exitCode: 3 });
    });

    it('tells a closed channel of a living process from its exit (J12)', async () => {
      const { client } = launch({ on: { mute: [[{ do: 'close', stream: 'stdout' }, hang]] } });
      const thrown = await rejectionOf(client.request('mute'));
      expect(thrown)
        .to.be.instanceOf(TransportClosedError)
        .and.include({ reason: 'JSON-RPC input closed', exitCode: undefined });
    });

    it('keeps the memory of stderr bounded (B3)', async () => {
      const { client } = launch({
        on: { go: [[writeError('progress 99%\r'.repeat(5000), { repeat: 3200 }), exit(1)]] },
      });
      await client.initialize();
      const before = process.memoryUsage().rss;
      const thrown = (await rejectionOf(client.request('go'))) as TransportClosedError;
      expect(thrown.stderrTail).to.have.length(1);
      expect(thrown.stderrTail[0]).to.have.length.within(4000, 4097);
      expect(process.memoryUsage().rss - before).to.be.below(100e6);
    }).timeout(30_000);
  });

  describe('the stderr of the runtime', () => {
    it('is heard line by line as it comes, and the last one without its newline at the end', async () => {
      const heard: string[] = [];
      const speak = [writeError('台 one\ntw', { chunkBytes: 1 }), { do: 'delay', ms: 20 } as const, writeError('o\n')];
      const { client } = launch(
        { on: { speak: [speak], die: [[writeError('fatal: 🔥'), exit(7)]] } },
        { onStderr: (line) => heard.push(line) },
      );
      void rejectionOf(client.request('speak'));
      while (heard.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
      expect(heard).to.deep.equal(['台 one', 'two']);
      const thrown = (await rejectionOf(client.request('die'))) as TransportClosedError;
      expect(heard).to.deep.equal(['台 one', 'two', 'fatal: 🔥']);
      expect(thrown.stderrTail).to.deep.equal(heard);
    });

    it('does not suffer from a listener that throws', async () => {
      const cause = new Error('no more');
      const diagnostics: TransportDiagnostic[] = [];
      const { client } = launch(
        { on: { go: [[writeError('one\ntwo\n'), exit(1)]] } },
        {
          onStderr: () => {
            throw cause;
          },
          onDiagnostic: (diagnostic) => diagnostics.push(diagnostic),
        },
      );
      expect(await rejectionOf(client.request('go')))
        .to.have.property('stderrTail')
        .that.deep.equals(['one', 'two']);
      const failed = { kind: 'handler-failed', message: 'onStderr failed', cause };
      expect(diagnostics).to.deep.equal([failed, failed]);
    });
  });

  describe('a process that cannot be started', () => {
    const launches: readonly [string, HarnessClientOptions, RegExp][] = [
      [
        'a name that is not on PATH',
        { launch: { command: 'no-such-dsh' } },
        /^DeepSeek Harness runtime failed to start\nspawn error: .*no-such-dsh.*ENOENT/,
      ],
      [
        'a missing file',
        { launch: { command: '/no/such/dsh' } },
        /^DeepSeek Harness runtime failed to start\nspawn error: launch\.command does not exist: \/no\/such\/dsh$/,
      ],
      ['a directory', { dshBin: '/usr' }, /spawn error: dshBin is a directory: \/usr$/],
      [
        'a missing processCwd',
        { launch: { command: 'node' }, processCwd: '/no/such' },
        /spawn error: processCwd does not exist: \/no\/such$/,
      ],
      ['an environment that no process can have', { launch: { command: 'node' }, env: { A: 'a\0b' } }, /spawn error: /],
    ];
    for (const [what, options, message] of launches) {
      it(`fails at once with ${what}, and so does all that follows (B8)`, async () => {
        const client = new HarnessClient(options);
        const early = client.subscribe();
        const thrown = await rejectionOf(client.initialize());
        expect(thrown).to.be.instanceOf(TransportClosedError).with.property('message').that.matches(message);
        expect(await rejectionOf(client.request('x'))).to.be.instanceOf(TransportClosedError);
        expect(await rejectionOf(early.next())).to.be.instanceOf(TransportClosedError);
        await client.close();
      });
    }

    it('leaves nothing open when it fails again and again (B8)', async () => {
      const attempt = async (): Promise<void> => {
        const client = new HarnessClient({ launch: { command: 'no-such-dsh' } });
        expect(await rejectionOf(client.initialize())).to.be.instanceOf(TransportClosedError);
        await client.close();
      };
      await attempt();
      const before = openDescriptors();
      for (let round = 0; round < 1000; round++) await attempt();
      expect(openDescriptors()).to.be.at.most(before + 5);
    }).timeout(30_000);

    it('throws from start() itself where the options show it', () => {
      const client = new HarnessClient({ dshBin: '/no/such/dsh' });
      expect(() => client.start()).to.throw(TransportClosedError, 'dshBin does not exist');
    });
  });
});
