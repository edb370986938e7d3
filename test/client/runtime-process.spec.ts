import { ChildProcess, spawn } from 'node:child_process';
import { expect } from 'chai';
import { spy } from 'sinon';
import { RuntimeProcess } from '../../src/client/runtime-process.js';

const CLIENT = new URL('../../src/client/index.js', import.meta.url).href;

/** Reads nothing, ends the conversation by its stdout, and gives up its stdin at a signal. */
const DEAF_RUNTIME = `
  const { closeSync, writeSync } = require('node:fs');
  process.on('SIGUSR2', () => closeSync(0));
  setInterval(() => undefined, 60_000);
  writeSync(2, process.pid + '\\n');
  closeSync(1);
`;
/** A program that uses the client, and has no handler for what it does not expect. */
const HOST = `
  import { Socket } from 'node:net';
  import { HarnessClient } from ${JSON.stringify(CLIENT)};

  const { destroy } = Socket.prototype;
  const broken = new Promise((resolve) => {
    Socket.prototype.destroy = function (error) {
      if (error) resolve(error.code);
      return destroy.call(this, error);
    };
  });
  const client = new HarnessClient({
    launch: { command: process.execPath, args: ['--eval', ${JSON.stringify(DEAF_RUNTIME)}] },
    disposeEofGraceMs: 0,
    onStderr: (line) => console.log(line),
  });
  const failure = await client.prompt('s', [{ type: 'text', text: 'x'.repeat(5_000_000) }]).catch((error) => error);
  console.log(failure.reason);
  process.kill(Number(failure.stderrTail[0]), 'SIGUSR2');
  console.log(await broken);
  await client.close();
  console.log('closed');
`;

describe('RuntimeProcess', () => {
  for (const name of ['stdin', 'stdout', 'stderr'] as const) {
    it(`survives an error of its ${name} that nobody else listens for (B1)`, async () => {
      const listening = spy(ChildProcess.prototype, 'on');
      const runtime = new RuntimeProcess({
        command: 'cat',
        args: [],
        cwd: undefined,
        env: process.env,
        label: undefined,
      });
      const stream = (listening.firstCall.thisValue as ChildProcess)[name];
      const broken = new Error('EIO');
      const closed = new Promise((resolve) => stream?.once('close', resolve));
      stream?.destroy(broken);
      await closed;
      expect(stream?.errored).to.equal(broken);
      await runtime.terminate(60_000, 60_000);
      expect(runtime.exit).to.deep.equal({ exitCode: 0 });
    });
  }

  it('does not take its host down with an EPIPE after the conversation (B1)', async () => {
    const host = spawn(process.execPath, ['--input-type=module', '--eval', HOST], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    let complaints = '';
    host.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    host.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaints += text;
    });
    const code = await new Promise((resolve) => host.once('close', resolve));
    const [pid, ...lines] = said.split('\n');
    // A host that crashed leaves its runtime behind.
    if (code !== 0) process.kill(Number(pid), 'SIGKILL');
    expect(complaints).to.equal('');
    expect(lines).to.deep.equal(['JSON-RPC input closed', 'EPIPE', 'closed', '']);
    expect(code).to.equal(0);
  });
});
