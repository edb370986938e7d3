import { expect } from 'chai';
import {
  type EncodedEvent,
  type SessionHeader,
  SessionLeasedError,
  type SessionRepository,
} from '../../src/session/index.js';
import { MemorySessionRepository } from '../../src/session/memory-session-repository.js';
import { fileRepository } from '../support/file-logs.js';
import { readLog } from '../support/read-log.js';
import { rejectionOf } from '../support/rejection-of.js';
import { useTempDir } from '../support/temp-dir.js';

function header(id: string, cwd = '/ws'): SessionHeader {
  return { type: 'session', version: 0, id, createdAt: 1, cwd, delegationDepth: 0 };
}

function batch(from: number, count = 1): EncodedEvent[] {
  return Array.from({ length: count }, (_, index) => {
    const seq = from + index;
    return { seq, json: `{"type":"step/start","seq":${seq},"time":${seq},"data":{"turn":1,"step":1}}` };
  });
}

const dir = useTempDir;
const implementations: readonly (readonly [string, (root: string) => SessionRepository])[] = [
  ['MemorySessionRepository', () => new MemorySessionRepository()],
  ['FileSessionRepository', (root) => fileRepository(root)],
];

for (const [name, make] of implementations) {
  describe(`${name} as SessionRepository`, () => {
    const root = dir();
    let repository: SessionRepository;
    beforeEach(() => {
      repository = make(root.path);
    });

    it('gives back header and events as they were appended, batch after batch', async () => {
      const log = await repository.create(header('s'));
      expect(log.append(batch(0, 2))).to.equal(undefined);
      log.append(batch(2));
      await log.close();
      expect(await repository.find('s')).to.deep.equal(header('s'));
      const stored = await readLog(repository, 's');
      expect(stored.header).to.deep.equal(header('s'));
      expect(stored.events).to.deep.equal(batch(0, 3).map(({ json }) => JSON.parse(json)));
    });

    it('is read while it is written', async () => {
      const log = await repository.create(header('s'));
      log.append(batch(0));
      expect((await readLog(repository, 's')).events).to.have.length(1);
      log.append(batch(1));
      expect((await readLog(repository, 's')).events).to.have.length(2);
      await log.close();
    });

    it('stores nothing before the first event', async () => {
      const log = await repository.create(header('s'));
      log.append([]);
      await log.sync();
      expect(await repository.find('s')).to.equal(undefined);
      expect(await rejectionOf(readLog(repository, 's'))).to.have.property('code', 'SESSION_NOT_FOUND');
      await log.close();
      await (await repository.create(header('s'))).close();
    });

    it('refuses an id that is stored, whatever the workspace', async () => {
      const log = await repository.create(header('s', '/one'));
      log.append(batch(0));
      expect(await rejectionOf(repository.create(header('s', '/two')))).to.have.property('code', 'SESSION_STORED');
      await log.close();
      expect(await rejectionOf(repository.create(header('s', '/one')))).to.have.property('code', 'SESSION_STORED');
    });

    it('lets one of two writers of an id through while it writes, and keeps what it wrote', async () => {
      const [first, second] = await Promise.all([repository.create(header('s')), repository.create(header('s'))]);
      second.append(batch(0, 2));
      expect(() => first.append(batch(0)))
        .to.throw(SessionLeasedError, `in use by process ${process.pid} on `)
        .with.property('holder')
        .that.includes({ pid: process.pid });
      second.append(batch(2));
      await second.close();
      expect(() => first.append(batch(0)))
        .to.throw('stored already')
        .with.property('code', 'SESSION_STORED');
      await first.close();
      expect((await readLog(repository, 's')).events).to.have.length(3);
    });

    it('refuses a batch that would leave a gap, and stores nothing of it', async () => {
      const log = await repository.create(header('s'));
      log.append(batch(0));
      expect(() => log.append(batch(2))).to.throw('event 2 cannot be stored where 1 is next');
      expect(() => log.append([...batch(1), ...batch(3)])).to.throw('event 3 cannot be stored where 2 is next');
      log.append(batch(1));
      await log.close();
      expect((await readLog(repository, 's')).events).to.have.length(2);
    });

    it('takes no more after close, which may be asked twice', async () => {
      const log = await repository.create(header('s'));
      log.append(batch(0));
      await Promise.all([log.close(), log.close()]);
      await log.close();
      expect(() => log.append(batch(1))).to.throw('closed');
      await log.sync();
    });

    it('continues a stored session with its events and the next seq', async () => {
      const log = await repository.create(header('s'));
      log.append(batch(0, 2));
      await log.close();
      for (const life of [1, 2]) {
        const seqs: number[] = [];
        const resumed = await repository.resume('s', ({ seq }) => seqs.push(seq));
        expect(seqs).to.have.length(life + 1);
        expect(resumed.reading).to.deep.include({ header: header('s'), eventCount: life + 1 });
        expect(() => resumed.log.append(batch(0))).to.throw(`event 0 cannot be stored where ${life + 1} is next`);
        resumed.log.append(batch(life + 1));
        await resumed.log.close();
      }
      expect((await readLog(repository, 's')).events).to.deep.equal(batch(0, 4).map(({ json }) => JSON.parse(json)));
    });

    it('refuses to continue what is open for writing, naming the holder, or not stored', async () => {
      expect(await rejectionOf(repository.resume('s', () => undefined))).to.have.property('code', 'SESSION_NOT_FOUND');
      const log = await repository.create(header('s'));
      expect(await rejectionOf(repository.resume('s', () => undefined))).to.have.property('code', 'SESSION_NOT_FOUND');
      log.append(batch(0));
      log.assertHeld();
      for (const open of [log, undefined]) {
        const writer = open ?? (await repository.resume('s', () => undefined)).log;
        const failure = await rejectionOf(repository.resume('s', () => undefined));
        expect(failure).to.be.instanceOf(SessionLeasedError).with.nested.property('holder.pid', process.pid);
        await writer.close();
        await writer.close();
      }
      const last = await repository.resume('s', () => undefined);
      await log.close();
      expect(await rejectionOf(repository.resume('s', () => undefined))).to.have.property('code', 'SESSION_LEASED');
      await last.log.close();
    });

    for (const id of [
      '../../x',
      'a/b',
      'C:\\x',
      'CON',
      '.',
      '..',
      'a\0b\n',
      '台',
      '🔥',
      '__proto__',
      'x'.repeat(1024),
    ]) {
      it(`stores ${JSON.stringify(id).slice(0, 20)} and finds it again (G10, J1, J2)`, async () => {
        const log = await repository.create(header(id));
        log.append(batch(0));
        await log.close();
        expect((await readLog(repository, id)).header.id).to.equal(id);
      });
    }

    it('keeps ids apart that differ in case only, and ids of 255 to 1,000 characters (G10, J2)', async () => {
      const ids = ['a', 'A', ...[255, 256, 300, 999, 1000].map((length) => 'x'.repeat(length))];
      for (const id of ids) {
        const log = await repository.create(header(id));
        log.append(batch(0));
        await log.close();
      }
      for (const id of ids) expect((await repository.find(id))?.id).to.equal(id);
    });
  });
}
