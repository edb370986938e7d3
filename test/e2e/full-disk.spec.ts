import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { isEvent, type SessionEvent } from '../../src/protocol/index.js';
import { builtBin, Lab } from '../support/lab.js';
import { RawRuntime } from '../support/raw-runtime.js';

/** A runtime whose home is a small file system of its own, in a mount namespace that nobody else sees. */
class MountedRuntime {
  readonly runtime: RawRuntime;

  constructor(
    private readonly lab: Lab,
    mount: string,
  ) {
    const script = `${mount} && exec "$@"`;
    const command = ['-rm', 'bash', '-c', script, 'bash', process.execPath, builtBin, '--profile', 'sdk-minimal'];
    this.runtime = RawRuntime.spawn(command, lab.env, 'unshare');
  }

  /** The home as the runtime sees it. */
  get home(): string {
    return `/proc/${this.runtime.child.pid}/root${this.lab.home}`;
  }

  async initialize(): Promise<void> {
    const { cwd } = this.lab;
    await this.runtime.request('initialize', { cwd, provider: 'deepseek-official', model: 'deepseek-v4-flash' });
  }

  /** The events of the only log, which has to be whole lines without a gap. */
  stored(): SessionEvent[] {
    const files = readdirSync(this.home, { recursive: true, encoding: 'utf8' });
    const log = files.find((file) => file.endsWith('session.jsonl'));
    if (log === undefined) return [];
    const text = readFileSync(join(this.home, log), 'utf8');
    expect(text.endsWith('\n')).to.equal(true);
    const events = text
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => JSON.parse(line) as SessionEvent);
    expect(events.map(({ seq }) => seq)).to.deep.equal(events.map((_, index) => index));
    return events;
  }
}

describe('a runtime whose disk', () => {
  let lab: Lab;
  let mounted: MountedRuntime;
  beforeEach(async () => {
    lab = await Lab.open();
  });
  afterEach(async () => {
    await mounted.runtime.kill();
    await lab.close();
  });

  it('is full says so, keeps what was stored, and goes on when there is room again (G12)', async () => {
    mounted = new MountedRuntime(lab, 'mount -t tmpfs -o size=1m tmpfs "$DSH_HOME"');
    const { runtime } = mounted;
    await mounted.initialize();
    const filler = join(mounted.home, 'filler');
    writeFileSync(filler, Buffer.alloc(700 * 1024));
    lab.server.respond = ({ body }) =>
      body.messages.at(-1).content === 'much' ? { text: 'x'.repeat(600_000), chunkSize: 5_000 } : { text: 'little' };

    await runtime.prompt('s', 'little');
    await runtime.idle('s');
    runtime.frames.length = 0;
    await runtime.prompt('s', 'much');
    await runtime.idle('s');
    const end = runtime.events.find((event) => isEvent(event, 'turn/end'));
    expect(end?.data).to.deep.include({ turn: 2 });
    expect(JSON.stringify(end?.data)).to.match(/"kind":"error".*ENOSPC.*"code":"STORE_FAILED"/);
    const stored = mounted.stored();
    expect(stored.length).to.be.greaterThan(10);
    const told = new RegExp(`cannot be written from event ${stored.length} on: ENOSPC`);
    while (!told.test(runtime.stderr)) await runtime.change();

    const refused = await runtime.call('session/prompt', {
      sessionId: 's',
      contentBlocks: [{ type: 'text', text: 'y'.repeat(700_000) }],
    });
    expect(refused.error?.message).to.match(/ENOSPC/);
    expect(mounted.stored()).to.deep.equal(stored);

    rmSync(filler);
    runtime.frames.length = 0;
    await runtime.prompt('s', 'little again');
    await runtime.idle('s');
    const all = mounted.stored();
    expect(all.slice(0, stored.length)).to.deep.equal(stored);
    for (const event of runtime.events) expect(all[event.seq]).to.deep.equal(event);
    expect(all.filter((event) => isEvent(event, 'turn/end'))).to.have.length(3);
    expect(JSON.stringify(all)).not.to.contain('yyy');
  });

  it('is full from the start refuses the prompt and leaves nothing behind', async () => {
    mounted = new MountedRuntime(lab, 'mount -t tmpfs -o size=64k tmpfs "$DSH_HOME"');
    await mounted.initialize();
    const filler = join(mounted.home, 'filler');
    expect(() => writeFileSync(filler, Buffer.alloc(128 * 1024))).to.throw('ENOSPC');
    const { error } = await mounted.runtime.call('session/prompt', {
      sessionId: 's',
      contentBlocks: [{ type: 'text', text: 'x' }],
    });
    expect(error?.message).to.match(/ENOSPC/);
    expect(mounted.runtime.notifications.filter(({ method }) => method === 'session.status')).to.deep.equal([]);
    rmSync(filler);
    lab.server.answer({ text: 'ok' });
    await mounted.runtime.prompt('s', 'again');
    await mounted.runtime.idle('s');
    expect(mounted.stored().filter((event) => isEvent(event, 'turn/end'))).to.have.length(1);
  });

  it('is read-only refuses the prompt by name and lives on', async () => {
    mounted = new MountedRuntime(lab, 'mount -t tmpfs tmpfs "$DSH_HOME" && mount -o remount,ro "$DSH_HOME"');
    await mounted.initialize();
    for (const sessionId of ['s', 'other']) {
      const contentBlocks = [{ type: 'text', text: 'x' }];
      const { error } = await mounted.runtime.call('session/prompt', { sessionId, contentBlocks });
      expect(error?.code).to.equal(-32603);
      expect(error?.message).to.match(/EROFS/);
    }
    expect(lab.server.requests).to.deep.equal([]);
    expect(statSync(mounted.home).isDirectory()).to.equal(true);
    // Two prompts were never stored: their sessions cannot be closed as saved.
    expect((await mounted.runtime.call('shutdown')).error?.message).to.equal('SDK server teardown failed');
    expect(await mounted.runtime.ended).to.deep.equal({ code: 0, signal: null });
  });
});
