import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { packageInfo } from '../../../src/base/index.js';
import type { SessionEvent } from '../../../src/protocol/index.js';
import { canWriteZstd } from '../../../src/session/files/log-compression.js';
import { FileSessionArchive, type SessionHeader } from '../../../src/session/index.js';
import { SessionFold } from '../../../src/session/session-fold.js';
import { fileRepository } from '../../support/file-logs.js';
import { readLog } from '../../support/read-log.js';
import { RecordingLogger } from '../../support/recording-logger.js';
import { rejectionOf } from '../../support/rejection-of.js';
import { encoded, logText, SAMPLE_HEADER, turnEvents, turns } from '../../support/sample-log.js';
import { human } from '../../support/session-world.js';
import { useTempDir } from '../../support/temp-dir.js';

const fixtures = join(packageInfo().root, 'test', 'fixtures', 'logs');

describe('FileSessionArchive', () => {
  const dir = useTempDir();
  const events = turns(2);
  let archive: FileSessionArchive;
  beforeEach(() => {
    archive = new FileSessionArchive(dir.path, new RecordingLogger());
  });

  interface StoreOptions {
    readonly id?: string;
    readonly header?: Partial<SessionHeader>;
    readonly project?: string;
    readonly name?: string;
    /** Seconds since the epoch. */
    readonly modified?: number;
  }

  function store(lines: readonly (SessionEvent | string)[] | Buffer, options: StoreOptions = {}): string {
    const { id = 's', header = {}, project = '--ws--', name = 'session.jsonl', modified } = options;
    const path = join(dir.path, project, id, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, Buffer.isBuffer(lines) ? lines : logText(lines, { ...SAMPLE_HEADER, id, ...header }));
    if (modified !== undefined) utimesSync(path, modified, modified);
    return path;
  }

  /** A session that is live as long as the test. */
  async function live(id: string): Promise<{ close(): Promise<void> }> {
    const log = await fileRepository(dir.path).create({ ...SAMPLE_HEADER, id });
    log.append(encoded(events));
    return log;
  }

  const read = (id = 's') => readLog(fileRepository(dir.path), id);

  describe('list', () => {
    it('names all sessions, the one that was changed last first', async () => {
      const old = store(events, { id: 'old', modified: 1_000 });
      store(events, { id: 'new', project: '--other--', modified: 3_000 });
      store(gzipSync(logText(events, { ...SAMPLE_HEADER, id: 'mid' })), {
        id: 'mid',
        name: 'session.jsonl.gz',
        modified: 2_000,
      });
      mkdirSync(join(dir.path, '--ws--', 'empty'));
      writeFileSync(join(dir.path, '--ws--', 'file'), '');
      writeFileSync(join(dir.path, 'file'), '');
      const list = await archive.list();
      expect(list.map(({ header }) => header?.id)).to.deep.equal(['new', 'mid', 'old']);
      const bytes = Buffer.byteLength(readFileSync(old));
      const header = { ...SAMPLE_HEADER, id: 'old' };
      const entry = { path: old, bytes, modifiedAt: 1_000_000, holder: undefined, header, problem: undefined };
      expect(list[2]).to.deep.equal(entry);
    });

    it('is empty where there is no root, and an error where there cannot be one', async () => {
      expect(await new FileSessionArchive(join(dir.path, 'none'), new RecordingLogger()).list()).to.deep.equal([]);
      writeFileSync(join(dir.path, 'file'), '');
      const failure = await rejectionOf(new FileSessionArchive(join(dir.path, 'file'), new RecordingLogger()).list());
      expect(failure).to.have.property('code', 'STORE_FAILED');
    });

    it('shows bad logs with their problem, and hides no other one', async () => {
      store(events, { id: 'good' });
      store(Buffer.from(''), { id: 'no-header' });
      store(Buffer.from('\0\0'), { id: 'zstd', name: 'session.jsonl.zstd' });
      store(events, { id: 'newer', header: { version: 9 as 0 } });
      store(events, { id: 'moved', header: { id: 'elsewhere' } });
      store(events, { id: 'twice', project: '--a--' });
      store(events, { id: 'twice', project: '--b--' });
      mkdirSync(join(dir.path, '--ws--', 'directory', 'session.jsonl'), { recursive: true });
      store([...events.slice(0, 3), 'garbage', ...events], { id: 'damaged' });
      const pipe = store(events, { id: 'pipe' });
      unlinkSync(pipe);
      execFileSync('mkfifo', [pipe]);
      const link = store(events, { id: 'link' });
      unlinkSync(link);
      symlinkSync(join(dir.path, 'nowhere'), link);
      const list = await archive.list();
      const problems = new Map(list.map(({ path, problem }) => [path.slice(dir.path.length + 1), problem]));
      expect(problems.get('--ws--/good/session.jsonl')).to.equal(undefined);
      expect(problems.get('--ws--/damaged/session.jsonl')).to.equal(undefined);
      expect(problems.get('--ws--/no-header/session.jsonl')).to.match(/header line is missing/);
      expect(problems.get('--ws--/zstd/session.jsonl.zstd')).to.match(/zstd frame/);
      expect(problems.get('--ws--/newer/session.jsonl')).to.match(/format 9 is not supported: upgrade/);
      expect(problems.get('--ws--/directory/session.jsonl')).to.match(/cannot be read: it is no regular file/);
      expect(problems.get('--ws--/pipe/session.jsonl')).to.match(/cannot be read: it is no regular file/);
      expect(problems.get('--ws--/link/session.jsonl')).to.match(/cannot be looked at: ENOENT/);
      expect(problems.get('--ws--/moved/session.jsonl')).to.match(/names session "elsewhere"/);
      expect(problems.get('--a--/twice/session.jsonl')).to.match(/stored a second time/);
      expect(problems.get('--b--/twice/session.jsonl')).to.match(/stored a second time/);
      expect(list).to.have.length(11);
    });

    it('shows what cannot be looked into, where rights say so', async () => {
      store(events, { id: 'good' });
      store(events, { id: 'locked', project: '--locked--' });
      chmodSync(join(dir.path, '--locked--'), 0);
      try {
        const list = await archive.list();
        expect(list.map(({ header }) => header?.id)).to.include('good');
        // Root may look anywhere.
        const problem = list.find(({ path }) => path.includes('--locked--'))?.problem;
        if (process.getuid?.() === 0) expect(problem).to.equal(undefined);
        else expect(problem).to.match(/EACCES/);
      } finally {
        chmodSync(join(dir.path, '--locked--'), 0o700);
      }
    });

    it('says who writes a session', async () => {
      const log = await live('busy');
      expect((await archive.list())[0]?.holder?.pid).to.equal(process.pid);
      await log.close();
      expect((await archive.list())[0]?.holder).to.equal(undefined);
    });
  });

  describe('verify', () => {
    it('counts what is there', async () => {
      const open = turnEvents({ turn: 3, seq: events.length }).slice(0, 3);
      const title = {
        type: 'session/title',
        seq: 0,
        time: 1,
        data: { title: 'T', messageSeqs: [], source: { kind: 'user' } },
      };
      const all = [title as SessionEvent, ...turns(2), ...open].map((event, seq) => ({ ...event, seq }));
      const sound = all.filter(({ type }) => type !== 'assistant/message') as SessionEvent[];
      const path = store(sound.map((event, seq) => ({ ...event, seq })));
      const report = await archive.verify({ id: 's' });
      expect(report).to.deep.include({ path, condition: { kind: 'sound' }, turns: 3, openTurn: 3, title: 'T' });
      expect(report).to.deep.include({ eventCount: sound.length, bytes: readFileSync(path).length, holder: undefined });
    });

    it('finds what only the rules of a session find', async () => {
      store([...turns(1), ...turns(1).map((event) => ({ ...event, seq: event.seq + turns(1).length }))]);
      const { condition } = await archive.verify({ id: 's' });
      expect(condition.kind).to.equal('damaged');
      expect(condition)
        .to.have.property('problem')
        .that.matches(/turn\/start must begin turn 2/);
    });

    it('reads a log anywhere, a live one, too', async () => {
      const path = join(dir.path, 'anywhere.jsonl.zstd');
      writeFileSync(path, readFileSync(join(fixtures, 'packed.jsonl.zstd')));
      expect(await archive.verify({ file: path })).to.deep.include({ condition: { kind: 'sound' }, turns: 2 });
      const log = await live('busy');
      expect((await archive.verify({ id: 'busy' })).holder?.pid).to.equal(process.pid);
      await log.close();
    });

    it('says that there is no such session or file', async () => {
      expect((await rejectionOf(archive.verify({ id: 'none' }))).message).to.equal('session "none" is not stored');
      const failure = await rejectionOf(archive.verify({ file: join(dir.path, 'none') }));
      expect(failure).to.have.property('code', 'SESSION_NOT_FOUND');
      expect(failure.message).to.contain(join(dir.path, 'none'));
    });
  });

  it('reads and exports packed and compressed logs as plain lines that are a log again', async () => {
    const plain = readFileSync(join(fixtures, 'plain.jsonl'), 'utf8');
    for (const name of ['packed.jsonl', 'packed.jsonl.zstd', 'plain.jsonl']) {
      const path = join(dir.path, name);
      writeFileSync(path, readFileSync(join(fixtures, name)));
      const lines: string[] = [];
      const reading = await archive.exportEvents({ file: path }, async (more) => {
        await new Promise((resolve) => setImmediate(resolve));
        lines.push(...more);
      });
      expect(`${lines.join('\n')}\n`).to.equal(plain);
      expect(reading.condition).to.deep.equal({ kind: 'sound' });
      const seen: number[] = [];
      await archive.read({ file: path }, ({ seq }) => seen.push(seq));
      expect(seen).to.have.length(lines.length - 1);
      unlinkSync(path);
    }
  });

  describe('repair', () => {
    it('leaves a log alone that needs none', async () => {
      const path = store(events);
      const before = readFileSync(path);
      const report = await archive.repair({ id: 's' });
      expect(report).to.deep.equal({ condition: { kind: 'sound' }, copy: undefined, closers: 0 });
      expect(readFileSync(path)).to.deep.equal(before);
      expect(readdirSync(dirname(path))).to.deep.equal(['session.jsonl']);
    });

    it('cuts a torn end off and closes the open turn', async () => {
      const path = store([...events.slice(0, -2), 'garbage']);
      const report = await archive.repair({ id: 's' });
      expect(report.condition.kind).to.equal('torn');
      expect(report.closers).to.equal(2);
      const after = await read();
      expect(after.condition).to.deep.equal({ kind: 'sound' });
      expect(after.events.map(({ type }) => type).slice(-2)).to.deep.equal(['step/end', 'turn/end']);
      expect(after.events.at(-1)).to.have.nested.property('data.reason.kind', 'interrupted');
      expect(readdirSync(dirname(path))).to.deep.equal(['session.jsonl']);
      expect((await archive.repair({ id: 's' })).closers).to.equal(0);
    });

    it('refuses a damaged log until it is told to drop what is behind the defect', async () => {
      const lines = [...events.slice(0, 5), 'garbage', ...events.slice(5)];
      const path = store(lines);
      expect(await rejectionOf(archive.repair({ id: 's' }))).to.have.property('code', 'SESSION_DAMAGED');
      expect(readFileSync(path, 'utf8')).to.equal(logText(lines));
      const { copy = '', condition, closers } = await archive.repair({ id: 's' }, { dropDamage: true });
      expect(condition.kind).to.equal('damaged');
      expect(copy).to.equal(`${path}.damaged-1`);
      expect(readFileSync(copy, 'utf8')).to.equal(logText(lines));
      expect(closers).to.equal(2);
      const after = await read();
      expect(after.events.slice(0, 5)).to.deep.equal(events.slice(0, 5));
      expect(after.condition).to.deep.equal({ kind: 'sound' });
      expect(readdirSync(dirname(path)).sort()).to.deep.equal(['session.jsonl', 'session.jsonl.damaged-1']);
    });

    it('keeps every damaged original, and that of a compressed log', async () => {
      const lines = [...events.slice(0, 5), 'garbage', ...events.slice(5)];
      for (const number of [1, 2]) {
        const path = store(gzipSync(logText(lines)), { name: 'session.jsonl.gz' });
        if (number === 2) unlinkSync(join(dirname(path), 'session.jsonl'));
        const { copy } = await archive.repair({ id: 's' }, { dropDamage: true });
        expect(copy).to.equal(`${path}.damaged-${number}`);
        expect(gunzipSync(readFileSync(copy ?? '')).toString()).to.equal(logText(lines));
        expect(existsSync(path)).to.equal(false);
        expect((await read()).condition).to.deep.equal({ kind: 'sound' });
      }
    });

    it('shortens a seed that was not all there', async () => {
      store(events.slice(0, 5), { header: { seedLength: 9, parentSession: 'p' } });
      await archive.repair({ id: 's' }, { dropDamage: true });
      const { header, condition } = await read();
      expect(header).to.deep.equal({ ...SAMPLE_HEADER, seedLength: 5, parentSession: 'p' });
      expect(condition).to.deep.equal({ kind: 'sound' });
    });

    it('works on a log anywhere, with a lease of its own beside it', async () => {
      const path = join(dir.path, 'other.jsonl');
      writeFileSync(path, logText(events.slice(0, 3)));
      expect((await archive.repair({ file: path })).closers).to.equal(2);
      expect(readdirSync(dir.path)).to.deep.equal(['other.jsonl']);
    });
  });

  describe('compact', () => {
    it('packs, and tells what it saved', async () => {
      const path = store(events);
      const before = readFileSync(path).length;
      const report = await archive.compact({ id: 's' });
      expect(report).to.deep.equal({ path, bytesBefore: before, bytesAfter: readFileSync(path).length });
      expect(report.bytesAfter).to.be.lessThan(before);
      expect((await read()).events).to.deep.equal(events);
      expect(await archive.compact({ id: 's' })).to.deep.include({ bytesAfter: report.bytesAfter });
    });

    it('changes the form when it is told to, and unpacks again', async () => {
      const path = store(events);
      const report = await archive.compact({ id: 's' }, 'gzip');
      expect(report.path).to.equal(`${path}.gz`);
      expect(readdirSync(dirname(path))).to.deep.equal(['session.jsonl.gz']);
      await archive.compact({ id: 's' });
      expect(readdirSync(dirname(path))).to.deep.equal(['session.jsonl.gz']);
      await archive.compact({ id: 's' }, 'none');
      expect(readdirSync(dirname(path))).to.deep.equal(['session.jsonl']);
      expect((await read()).events).to.deep.equal(events);
      const zstd = archive.compact({ id: 's' }, 'zstd');
      if (canWriteZstd()) expect((await zstd).path).to.equal(`${path}.zstd`);
      else expect(await rejectionOf(zstd)).to.have.property('code', 'INVALID_CONFIG');
      expect(readdirSync(dirname(path))).to.have.length(1);
    });

    it('drops a torn end, and refuses a damaged log', async () => {
      store([...events, 'garbage']);
      await archive.compact({ id: 's' });
      expect((await read()).condition).to.deep.equal({ kind: 'sound' });
      const path = store([...events.slice(0, 5), 'garbage', ...events]);
      const before = readFileSync(path);
      expect(await rejectionOf(archive.compact({ id: 's' }))).to.have.property('code', 'SESSION_DAMAGED');
      expect(readFileSync(path)).to.deep.equal(before);
    });
  });

  describe('fork', () => {
    const seeded = (count: number): object => ({ type: 'session/end-seed', seq: count, data: {} });

    it('begins a session with all closed turns of another one', async () => {
      const open = turnEvents({ turn: 3, seq: events.length }).slice(0, 4);
      store([...events, ...open]);
      const { header, path, turn } = await archive.fork({ id: 's' }, { id: 'new' });
      expect(turn).to.equal(2);
      const { createdAt, ...rest } = header;
      expect(createdAt).to.be.closeTo(Date.now(), 60_000);
      const { createdAt: _, ...source } = SAMPLE_HEADER;
      expect(rest).to.deep.equal({ ...source, id: 'new', parentSession: 's', seedLength: events.length });
      const forked = await read('new');
      expect(forked.header).to.deep.equal(header);
      expect(forked.events.slice(0, -1)).to.deep.equal(events);
      const { time, ...marker } = forked.events.at(-1) ?? { time: 0 };
      expect(marker).to.deep.equal(seeded(events.length));
      expect(time).to.equal(createdAt);
      expect(readdirSync(dirname(path))).to.deep.equal(['session.jsonl']);
      expect(readFileSync(path, 'utf8').match(/"text-chunks"/g)).to.have.length(2);
      expect((await archive.verify({ id: 'new' })).turns).to.equal(2);
    });

    it('takes any closed turn, none, and a new id by itself', async () => {
      store(events);
      const one = await archive.fork({ id: 's' }, { turn: 1 });
      expect(one.header.id).to.match(/^[0-9a-f-]{36}$/);
      expect((await read(one.header.id)).eventCount).to.equal(turns(1).length + 1);
      const none = await archive.fork({ id: 's' }, { turn: 0 });
      expect(none.header.seedLength).to.equal(0);
      expect((await read(none.header.id)).events.map(({ type }) => type)).to.deep.equal(['session/end-seed']);
    });

    it('takes what stands before an event of an unknown type, which nothing else reads past', async () => {
      const [first, rest] = [turns(1), events.slice(turns(1).length)];
      store([...first, { type: 'x/newer', seq: first.length, time: 1, data: {} } as never, ...rest]);
      const failure = await rejectionOf(archive.verify({ id: 's' }));
      expect(failure).to.have.property('code', 'SESSION_FORMAT_UNSUPPORTED');
      expect(failure.message).to.contain('"x/newer" is unknown').and.to.contain('dsh sessions fork');
      const { header, turn } = await archive.fork({ id: 's' });
      expect({ turn, seedLength: header.seedLength }).to.deep.equal({ turn: 1, seedLength: first.length });
      expect((await read(header.id)).events.slice(0, -1)).to.deep.equal(first);
      expect(await rejectionOf(archive.fork({ id: 's' }, { turn: 2 }))).to.have.property('code', 'TURN_NOT_CLOSED');
    });

    it('of a session without turns inherits nothing', async () => {
      store([
        { type: 'session/title', seq: 0, time: 1, data: { title: 'T', messageSeqs: [], source: { kind: 'user' } } },
      ]);
      const { header, turn } = await archive.fork({ id: 's' });
      expect({ turn, seedLength: header.seedLength }).to.deep.equal({ turn: 0, seedLength: 0 });
    });

    it('refuses a turn that is open or not there, an id that is taken or bad', async () => {
      store([...events, ...turnEvents({ turn: 3, seq: events.length }).slice(0, 4)]);
      for (const turn of [3, 4, -1, 1.5]) {
        const failure = await rejectionOf(archive.fork({ id: 's' }, { id: 'new', turn }));
        expect(failure).to.have.property('code', 'TURN_NOT_CLOSED');
        expect(failure.message).to.equal(`turn ${turn} of session "s" is not closed: the last one that is, is 2`);
      }
      expect(await rejectionOf(archive.fork({ id: 's' }, { id: 's' }))).to.have.property('code', 'SESSION_STORED');
      expect(await rejectionOf(archive.fork({ id: 's' }, { id: '' }))).to.have.property('code', 'INVALID_SESSION_ID');
      expect((await archive.list()).map(({ header }) => header?.id)).to.deep.equal(['s']);
    });

    it('takes the good part of a damaged log, a live one, a compressed one, one anywhere', async () => {
      store([...events.slice(0, turns(1).length + 2), 'garbage', ...events.slice(turns(1).length + 2)], { id: 'bad' });
      expect((await archive.fork({ id: 'bad' })).turn).to.equal(1);
      const log = await live('busy');
      expect((await archive.fork({ id: 'busy' })).turn).to.equal(2);
      await log.close();
      const { path } = await archive.fork({ file: join(fixtures, 'packed.jsonl') }, { id: 'copy' });
      expect(path).to.equal(join(dir.path, '--workspace--', 'copy', 'session.jsonl'));
      const plain = readFileSync(join(fixtures, 'plain.jsonl'), 'utf8').split('\n').slice(1, -1);
      const { events: forked } = await read('copy');
      expect(forked.slice(0, -1).map((event) => JSON.stringify(event))).to.deep.equal(plain);
    });

    it('of a fork marks the new end once, and an inherited inbox is not pending', async () => {
      const inbox = { target: 'next-turn', start: 0, inserted: [human('x')] };
      const waiting = { type: 'agent/inbox/spliced', seq: 0, time: 1, data: inbox };
      const all = [waiting, ...turns(1)].map((event, seq) => ({ ...event, seq })) as SessionEvent[];
      store(all.filter(({ type }) => type !== 'assistant/message').map((event, seq) => ({ ...event, seq })));
      const first = await archive.fork({ id: 's' }, { id: 'first' });
      const second = await archive.fork({ id: 'first' }, { id: 'second' });
      expect(second.header.seedLength).to.equal(first.header.seedLength);
      const { events: forked, header } = await read('second');
      expect(forked.filter(({ type }) => type === 'session/end-seed')).to.have.length(1);
      const fold = new SessionFold(header.seedLength);
      for (const event of forked) fold.read(event);
      expect(fold.pendingInbox['next-turn']).to.deep.equal([]);
    });
  });

  describe('delete', () => {
    it('leaves nothing of a session, and its workspace only while others need it', async () => {
      const path = store(events, { id: 'one' });
      store(events, { id: 'two' });
      writeFileSync(`${path}.damaged-1`, '');
      await archive.delete({ id: 'one' });
      expect(readdirSync(join(dir.path, '--ws--'))).to.deep.equal(['two']);
      await archive.delete({ id: 'two' });
      expect(readdirSync(dir.path)).to.deep.equal([]);
    });

    it('takes of a file anywhere only the log', async () => {
      const path = join(dir.path, 'x.jsonl');
      writeFileSync(path, logText(events));
      writeFileSync(`${path}.notes`, '');
      await archive.delete({ file: path });
      expect(readdirSync(dir.path)).to.deep.equal(['x.jsonl.notes']);
    });

    it('takes a log that cannot be read, and says when there is none', async () => {
      store(Buffer.from('garbage'));
      await archive.delete({ id: 's' });
      expect(await rejectionOf(archive.delete({ id: 's' }))).to.have.property('code', 'SESSION_NOT_FOUND');
      expect(await rejectionOf(archive.delete({ file: join(dir.path, 'x') }))).to.have.property(
        'code',
        'SESSION_NOT_FOUND',
      );
    });
  });

  it('writes to no session that is in use', async () => {
    const log = await live('busy');
    const target = { id: 'busy' };
    const calls: readonly (() => Promise<unknown>)[] = [
      () => archive.repair(target),
      () => archive.compact(target),
      () => archive.delete(target),
    ];
    for (const call of calls) expect(await rejectionOf(call())).to.have.property('code', 'SESSION_LEASED');
    for (const dryRun of [true, false]) expect(await archive.gc({ keep: 0, dryRun })).to.deep.equal([]);
    await log.close();
    expect((await read('busy')).events).to.deep.equal(events);
    for (const call of calls) await call();
    expect(readdirSync(dir.path)).to.deep.equal([]);
  });

  describe('gc', () => {
    beforeEach(() => {
      const now = Date.now() / 1000;
      for (const [id, age] of [
        ['a', 10],
        ['b', 20],
        ['c', 30],
        ['d', 40],
      ] as const)
        store(events, { id, modified: now - age });
      store(Buffer.from('garbage'), { id: 'bad', modified: now - 1_000 });
    });
    const size = Buffer.byteLength(logText(events));

    const rules: readonly (readonly [object, readonly string[]])[] = [
      [{}, []],
      [{ keep: 2 }, ['c', 'd']],
      [{ keep: 0 }, ['a', 'b', 'c', 'd']],
      [{ keep: 9 }, []],
      [{ olderThanMs: 25_000 }, ['c', 'd']],
      [{ olderThanMs: 1_000_000 }, []],
      [{ maxBytes: 2 * size + 10 }, ['c', 'd']],
      [{ maxBytes: 0 }, ['a', 'b', 'c', 'd']],
      [{ keep: 3, olderThanMs: 15_000 }, ['b', 'c', 'd']],
    ];
    for (const [options, gone] of rules) {
      it(`with ${JSON.stringify(options)} deletes ${gone.join(', ') || 'nothing'}, and never what cannot be read`, async () => {
        const wouldGo = await archive.gc({ ...options, dryRun: true });
        expect(wouldGo.map(({ header }) => header?.id)).to.deep.equal(gone);
        expect(readdirSync(join(dir.path, '--ws--'))).to.have.length(5);
        expect(await archive.gc(options)).to.deep.equal(wouldGo);
        const left = ['a', 'b', 'bad', 'c', 'd'].filter((id) => !gone.includes(id));
        expect(readdirSync(join(dir.path, '--ws--'))).to.deep.equal(left);
      });
    }
  });
});
