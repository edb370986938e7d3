import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { expect } from 'chai';
import { createRuntime, type Runtime } from '../../src/host/index.js';
import { StdioChannel } from '../../src/host/stdio-channel.js';
import { JsonRpcLineTransport, type SessionEventNotification } from '../../src/protocol/index.js';
import { useTempDir } from '../support/temp-dir.js';
import { framesOf } from '../support/transport-rig.js';

/** Characters from which frames leave in the tick that made them, before anything else can write the log. */
const BATCH_CHARS = 32_768;

/** The stdout of a runtime: whenever it is written to, it looks for the events in the logs. */
class WatchedOutput extends Writable {
  /** Events that came before their log had them. */
  readonly early: string[] = [];
  /** How many events ended in each write of at least {@link BATCH_CHARS}. */
  readonly large: number[] = [];
  #rest = '';

  constructor(
    private readonly home: string,
    private readonly reader: Writable,
  ) {
    super();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    const text = this.#rest + chunk.toString();
    this.#rest = text.slice(text.lastIndexOf('\n') + 1);
    const events = framesOf(text).flatMap(({ method, params }) =>
      method === 'session.event' ? [(params as unknown as SessionEventNotification).event] : [],
    );
    const logged = events.length > 0 ? this.#logged() : '';
    for (const event of events) {
      if (!logged.includes(JSON.stringify(event))) this.early.push(`${event.seq} ${event.type}`);
    }
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

  for (const batches of [2, 20]) {
    it(`has an event of ${batches} batches in the log before it is on the wire`, async () => {
      await prompt('x'.repeat(batches * BATCH_CHARS));
      await runtime.close();
      expect(output.early).to.deep.equal([]);
      expect(output.large).not.to.deep.equal([]);
    });
  }

  it('has all events of a large batch in the log before they are on the wire', async () => {
    await prompt('the first');
    await Promise.all(Array.from({ length: 60 }, (_, at) => prompt(`${at} ${'x'.repeat(1000)}`)));
    await runtime.close();
    expect(output.early).to.deep.equal([]);
    expect(Math.max(...output.large)).to.be.above(10);
  });
});
