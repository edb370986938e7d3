import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { expect } from 'chai';
import { createRuntime, type Runtime } from '../../src/host/index.js';
import { StdioChannel } from '../../src/host/stdio-channel.js';
import { JsonRpcLineTransport } from '../../src/protocol/index.js';
import { useTempDir } from '../support/temp-dir.js';

/** Characters from which frames leave in the tick that made them, before anything else can write the log. */
const BATCH_CHARS = 32_768;

/** The stdout of a runtime: whenever an event begins in what is written, it looks for it in the logs. */
class WatchedOutput extends Writable {
  /** Events that came before their log had them. */
  readonly early: string[] = [];
  /** How many events began in each write of at least {@link BATCH_CHARS}. */
  readonly large: number[] = [];

  constructor(
    private readonly home: string,
    private readonly reader: Writable,
  ) {
    super();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    const events = chunk.toString().match(/"type":"[^"]+","seq":\d+,"time":\d+/g) ?? [];
    const logged = events.length > 0 ? this.#logged() : '';
    this.early.push(...events.filter((event) => !logged.includes(event)));
    if (chunk.length >= BATCH_CHARS) this.large.push(events.length);
    this.reader.write(chunk);
    done();
  }

  #logged(): string {
    const files = readdirSync(this.home, { recursive: true, encoding: 'utf8' });
    return files
      .filter((file) => file.endsWith('.jsonl'))
      .map((file) => readFileSync(join(this.home, file), 'utf8'))
      .join('');
  }
}

describe('a runtime on its stdio', () => {
  const home = useTempDir();
  let runtime: Runtime;
  let client: JsonRpcLineTransport;
  let output: WatchedOutput;

  beforeEach(async () => {
    const [toRuntime, fromRuntime] = [new PassThrough(), new PassThrough()];
    output = new WatchedOutput(home.path, fromRuntime);
    runtime = createRuntime({
      profile: 'sdk-minimal',
      env: { DSH_HOME: home.path },
      channel: new StdioChannel(toRuntime, output),
    });
    client = new JsonRpcLineTransport(fromRuntime, toRuntime);
    client.start();
    await runtime.start();
    await client.request('initialize', { cwd: home.path, provider: 'offline', model: 'demo' });
  });
  afterEach(() => runtime.close());

  function prompt(text: string): Promise<unknown> {
    return client.request('session/prompt', { sessionId: 's', contentBlocks: [{ type: 'text', text }] });
  }

  it('has a large event in the log before it is on the wire', async () => {
    await prompt('x'.repeat(2 * BATCH_CHARS));
    await runtime.close();
    expect(output.early).to.deep.equal([]);
    expect(output.large).to.include(1);
  });

  it('has an event that leaves in pieces in the log before the first of them is on the wire', async () => {
    await prompt('the first');
    await Promise.all([20, 2].map((batches) => prompt('x'.repeat(batches * BATCH_CHARS))));
    await runtime.close();
    expect(output.early).to.deep.equal([]);
    expect(output.large).to.include(0);
  });

  it('has all events of a large batch in the log before they are on the wire', async () => {
    await prompt('the first');
    await Promise.all(Array.from({ length: 60 }, (_, at) => prompt(`${at} ${'x'.repeat(1000)}`)));
    await runtime.close();
    expect(output.early).to.deep.equal([]);
    expect(Math.max(...output.large)).to.be.above(10);
  });
});
