import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createMemoryTransportPair, FrameTrace } from '../../src/protocol/index.js';
import { fsError, useFsFaults } from '../support/fs-faults.js';
import { useTempDir } from '../support/temp-dir.js';

const nextTick = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

describe('FrameTrace', () => {
  const dir = useTempDir();
  const faults = useFsFaults();
  const file = (): string => join(dir.path, 'trace.jsonl');
  const failures: Error[] = [];
  const open = (env = {}): FrameTrace => new FrameTrace(file(), env, (error) => void failures.push(error));
  const lines = (): Record<string, unknown>[] =>
    readFileSync(file(), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  beforeEach(() => {
    failures.length = 0;
  });

  it('adds a JSON line for each frame, with time and direction, in a file for its owner', async () => {
    const before = new Date().toISOString();
    const trace = open();
    trace.add('in', '{"id":1,"method":"initialize"}');
    trace.add('out', '{"id":1,"result":{}}');
    trace.add('in', 'junk "quoted"');
    trace.add('in', '{broken');
    trace.add('in', '  ');
    await nextTick();
    expect(lines().map(({ time: _, ...rest }) => rest)).to.deep.equal([
      { direction: 'in', frame: { id: 1, method: 'initialize' } },
      { direction: 'out', frame: { id: 1, result: {} } },
      { direction: 'in', text: 'junk "quoted"' },
      { direction: 'in', text: '{broken' },
    ]);
    expect(String(lines()[0]?.time) >= before).to.equal(true);
    expect(statSync(file()).mode & 0o777).to.equal(0o600);
    trace.close();
  });

  it('keeps what the file held, writes what is left when it is closed, and nothing after', () => {
    writeFileSync(file(), '{"old":true}\n', { mode: 0o644 });
    const trace = open();
    trace.add('in', '{}');
    trace.close();
    trace.close();
    trace.add('in', '{}');
    expect(lines()).to.have.lengthOf(2);
    expect(statSync(file()).mode & 0o777).to.equal(0o600);
  });

  it('masks known credentials', () => {
    const trace = open({ MY_KEY: 'sk-"123456"' });
    trace.add('out', JSON.stringify({ params: { text: 'the key is sk-"123456"' } }));
    trace.close();
    expect(lines()[0]?.frame).to.deep.equal({ params: { text: 'the key is [redacted]' } });
  });

  it('that cannot be opened says so', () => {
    mkdirSync(file());
    expect(() => open())
      .to.throw(`the trace ${file()} cannot be written: EISDIR`)
      .with.property('code', 'TRACE_FAILED');
  });

  it('that can be written no more says so once, and ends', async () => {
    const trace = open();
    faults.inject('writeSync', () => () => {
      throw fsError('ENOSPC');
    });
    trace.add('in', '{}');
    await nextTick();
    trace.add('in', '{}');
    await nextTick();
    faults.heal();
    trace.close();
    expect(failures.map(({ message }) => message)).to.deep.equal([`the trace ${file()} ends here: ENOSPC: injected`]);
    expect(readFileSync(file(), 'utf8')).to.equal('');
  });

  it('hears both ways of a transport, long bodies too', async () => {
    const heard: string[] = [];
    const [server, client] = createMemoryTransportPair({
      onFrame: (direction, line) => heard.push(`${direction} ${line}`),
    });
    server.onRequest((_, { text }) => ({ text }));
    server.start();
    client.start();
    const text = 'x'.repeat(300_000);
    await client.request('echo', { text });
    server.notifyEncoded('note', '{"a":', JSON.stringify(text), '}');
    await server.flush();
    expect(heard.map((line) => line.slice(0, 3))).to.deep.equal(['in ', 'out', 'out']);
    expect(heard.every((line) => !line.endsWith('\n'))).to.equal(true);
    expect(JSON.parse(heard[1]?.slice(4) ?? '')).to.have.nested.property('result.text', text);
    expect(JSON.parse(heard[2]?.slice(4) ?? '')).to.deep.include({ method: 'note', params: { a: text } });
    client.close();
    server.close();
  });
});
