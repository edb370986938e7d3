import { execFile } from 'node:child_process';
import {
  appendFileSync,
  fstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
  type writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { type SinonFakeTimers, useFakeTimers } from 'sinon';
import { Deferred } from '../../../src/base/index.js';
import type { FileSessionLog } from '../../../src/session/files/file-session-log.js';
import type { EncodedEvent, SessionHeader } from '../../../src/session/index.js';
import { fileRepository, newFileLog } from '../../support/file-logs.js';
import { fsError, useFsFaults } from '../../support/fs-faults.js';
import { readLog } from '../../support/read-log.js';
import { RecordingLogger } from '../../support/recording-logger.js';
import { rejectionOf } from '../../support/rejection-of.js';
import { nextTick } from '../../support/session-world.js';
import { useTempDir } from '../../support/temp-dir.js';

const HEADER: SessionHeader = { type: 'session', version: 0, id: 's', createdAt: 1, cwd: '/ws', delegationDepth: 0 };

function batch(from: number, count = 1, text = ''): EncodedEvent[] {
  return Array.from({ length: count }, (_, index) => {
    const data = { title: text, messageSeqs: [], source: { kind: 'user' } };
    return { seq: from + index, json: JSON.stringify({ type: 'session/title', seq: from + index, time: 1, data }) };
  });
}

describe('FileSessionLog', () => {
  const dir = useTempDir();
  const faults = useFsFaults();
  let logger: RecordingLogger;
  let path: string;
  let log: FileSessionLog;
  beforeEach(() => {
    logger = new RecordingLogger();
    path = join(dir.path, '--ws--', 's', 'session.jsonl');
    log = newFileLog(dir.path, HEADER, logger);
  });
  afterEach(() => log.close().catch(() => undefined));

  const storedSeqs = async (): Promise<number[]> => {
    const { events } = await readLog(fileRepository(dir.path), 's');
    return events.map(({ seq }) => seq);
  };
  const files = (): string[] => readdirSync(dirname(path)).filter((name) => name !== 'session.lease');

  /** Refuses what is written of logs; leases are written as text. */
  const fullForLogs =
    (real: typeof writeSync) =>
    (...args: [number, Uint8Array | string]): number => {
      if (typeof args[1] !== 'string') throw fsError('ENOSPC');
      return real(...(args as Parameters<typeof writeSync>));
    };

  describe('a log that others touch', () => {
    const cases: readonly (readonly [string, (log: string) => void, string])[] = [
      ['removed', (file) => unlinkSync(file), 'was removed'],
      [
        'replaced',
        (file) => writeFileSync(join(dirname(file), 'copy'), readFileSync(file)),
        'was replaced by another file',
      ],
      ['cut', (file) => truncateSync(file, 10), 'was cut to 10 of'],
      ['written', (file) => appendFileSync(file, 'x\n'), 'was written by somebody else'],
    ];
    for (const [what, touch, message] of cases) {
      it(`is found ${what} at the next checkpoint, and by every write from then on`, () => {
        log.append(batch(0));
        log.assertHeld();
        touch(path);
        if (what === 'replaced') renameSync(join(dirname(path), 'copy'), path);
        for (const look of [() => log.assertHeld(), () => log.assertHeld()]) {
          expect(look).to.throw(message).with.property('code', 'LOG_CHANGED');
        }
      });

      it(`is found ${what} by a write after a pause, which stores nothing`, () => {
        const clock = useFakeTimers({ toFake: ['Date'], now: Date.now() });
        try {
          log.append(batch(0));
          log.assertHeld();
          touch(path);
          if (what === 'replaced') renameSync(join(dirname(path), 'copy'), path);
          clock.tick(1_000);
          const before = statSync(path, { throwIfNoEntry: false })?.size;
          expect(() => log.append(batch(1))).to.throw(message);
          expect(() => log.append(batch(1))).to.throw(message);
          expect(statSync(path, { throwIfNoEntry: false })?.size).to.equal(before);
        } finally {
          clock.restore();
        }
      });
    }

    it('goes on when it is put back as it was', () => {
      log.append(batch(0));
      renameSync(path, `${path}.away`);
      expect(() => log.assertHeld()).to.throw('was removed');
      renameSync(`${path}.away`, path);
      log.assertHeld();
      log.append(batch(1));
    });

    it('is not written by a holder that was stopped and has lost the lease meanwhile', () => {
      const clock = useFakeTimers({ toFake: ['Date'], now: Date.now() });
      try {
        log.append(batch(0));
        log.assertHeld();
        const lease = join(dirname(path), 'session.lease');
        writeFileSync(`${lease}.theirs`, readFileSync(lease, 'utf8').replace(/"nonce":"[^"]+"/, '"nonce":"theirs"'));
        renameSync(`${lease}.theirs`, lease);
        clock.tick(31_000);
        const before = readFileSync(path, 'utf8');
        for (const seq of [1, 1]) {
          expect(() => log.append(batch(seq)))
            .to.throw('was taken over')
            .with.property('code', 'LEASE_LOST');
        }
        expect(readFileSync(path, 'utf8')).to.equal(before);
      } finally {
        clock.restore();
      }
    });
  });

  describe('a write that fails', () => {
    it('leaves nothing of the first batch behind, and the retry stores it', async () => {
      faults.inject('writeSync', fullForLogs);
      expect(() => log.append(batch(0))).to.throw('ENOSPC');
      expect(readdirSync(dirname(path))).to.deep.equal([]);
      faults.heal();
      log.append(batch(0));
      expect(files()).to.deep.equal(['session.jsonl']);
      expect(await storedSeqs()).to.deep.equal([0]);
    });

    it('leaves nothing behind when the link fails', () => {
      for (const suffix of ['jsonl', 'lease']) {
        faults.inject('linkSync', (real) => (from: string, to: string) => {
          if (to.endsWith(suffix)) throw fsError('EMLINK');
          real(from, to);
        });
        expect(() => log.append(batch(0))).to.throw('EMLINK');
        expect(readdirSync(dirname(path))).to.deep.equal([]);
        faults.heal();
      }
    });

    it('reports what could not be undone beside what failed', () => {
      faults.inject('writeSync', fullForLogs);
      faults.inject('unlinkSync', () => () => {
        throw fsError('EIO');
      });
      expect(() => log.append(batch(0)))
        .to.throw('ENOSPC: injected; undoing it failed as well: EIO: injected')
        .with.property('errors')
        .that.has.length(2);
    });

    it('counts the first batch as stored when only the temporary name stayed', async () => {
      faults.inject('unlinkSync', () => () => {
        throw fsError('EIO');
      });
      log.append(batch(0));
      log.append(batch(1));
      expect(await storedSeqs()).to.deep.equal([0, 1]);
      const names = files().filter((name) => !name.startsWith('session.lease'));
      expect(names).to.have.length(2);
      expect(names.find((name) => name !== 'session.jsonl')).to.match(/^session\.jsonl\.[0-9a-f]{12}\.tmp$/);
    });

    it('goes on after short writes until every byte is out', async () => {
      faults.inject(
        'writeSync',
        (real) => (fd: number, bytes: Uint8Array, at: number) => real(fd, bytes, at, Math.min(7, bytes.length - at)),
      );
      log.append(batch(0, 3, '台🔥'));
      log.append(batch(3, 2, '台🔥'));
      expect(await storedSeqs()).to.deep.equal([0, 1, 2, 3, 4]);
    });

    it('does not spin on a file system that takes nothing', () => {
      faults.inject('writeSync', () => () => 0);
      expect(() => log.append(batch(0))).to.throw('the file system took 0 of');
    });

    it('takes a torn batch back, and the retry leaves no gap', async () => {
      log.append(batch(0));
      const before = readFileSync(path);
      let calls = 0;
      faults.inject('writeSync', (real) => (fd: number, bytes: Uint8Array, at: number) => {
        calls += 1;
        if (calls === 2) throw fsError('ENOSPC');
        return real(fd, bytes, at, 10);
      });
      expect(() => log.append(batch(1, 2))).to.throw('ENOSPC');
      expect(readFileSync(path)).to.deep.equal(before);
      faults.heal();
      log.append(batch(1, 3));
      expect(await storedSeqs()).to.deep.equal([0, 1, 2, 3]);
    });

    it('reports both failures when the rollback fails, and rolls back before the next write', async () => {
      log.append(batch(0));
      let calls = 0;
      faults.inject('writeSync', (real) => (fd: number, bytes: Uint8Array, at: number) => {
        calls += 1;
        if (calls === 2) throw fsError('ENOSPC');
        return real(fd, bytes, at, 10);
      });
      faults.inject('ftruncateSync', () => () => {
        throw fsError('EIO');
      });
      expect(() => log.append(batch(1))).to.throw('ENOSPC: injected; undoing it failed as well: EIO: injected');
      expect(() => log.append(batch(1))).to.throw('EIO: injected');
      faults.heal();
      log.append(batch(1));
      expect(await storedSeqs()).to.deep.equal([0, 1]);
    });

    it('really meets a full file: the batch is taken back whole, what was stored stays', async () => {
      const script = fileURLToPath(new URL('../../support/limited-log.js', import.meta.url));
      // A coverage report of the child would meet the limit as well.
      const env = { ...process.env, NODE_V8_COVERAGE: '' };
      const command = ['-c', 'ulimit -f 4 && exec "$0" "$@"', process.execPath, script, dir.path];
      const { stdout } = await promisify(execFile)('bash', command, { env });
      const told = JSON.parse(stdout) as { stored: number; code: string; size: number };
      expect(told.code).to.equal('EFBIG');
      expect(told.stored).to.be.greaterThan(0);
      expect(statSync(path).size).to.equal(told.size);
      expect(await storedSeqs()).to.deep.equal(Array.from({ length: told.stored }, (_, seq) => seq));
    });

    for (const [what, count, text] of [
      ['many lines', 40, 'x'.repeat(100_000)],
      ['one long line', 1, '🔥台x'.repeat(500_000)],
      ['short lines around a long one', 3, 'é'.repeat(262_100)],
    ] as const) {
      it(`writes ${what} piece by piece, with no copy of the whole`, async () => {
        const sizes: number[] = [];
        faults.inject('writeSync', (real) => (fd: number, bytes: Uint8Array, at: number) => {
          sizes.push(bytes.length);
          return real(fd, bytes, at);
        });
        log.append([...batch(0, count, text), ...batch(count, 1)]);
        expect(Math.max(...sizes)).to.be.lessThan(1024 * 1024);
        const stored = readFileSync(path, 'utf8').trimEnd().split('\n').slice(1);
        expect(stored).to.deep.equal([...batch(0, count, text), ...batch(count, 1)].map(({ json }) => json));
      });
    }
  });

  describe('sync', () => {
    let clock: SinonFakeTimers;
    beforeEach(() => {
      clock = useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    });

    /** Real time goes on: only timers are faked. */
    async function eventually(holds: () => boolean): Promise<void> {
      while (!holds()) await nextTick();
    }

    /** Plays the fsync of the log; directories are synced in truth. @returns the count so far */
    function watchSyncs(settle: (done: (error: Error | null) => void) => void = (done) => done(null)): () => number {
      let count = 0;
      faults.inject('fsync', (real) => (fd: number, done: (error: Error | null) => void) => {
        if (fstatSync(fd).isDirectory()) return real(fd, done);
        count += 1;
        settle(done);
      });
      return () => count;
    }

    it('happens in the background in a fixed window of 200 ms after a write, once for all writes in it', async () => {
      const syncs = watchSyncs();
      log.append(batch(0));
      clock.tick(150);
      log.append(batch(1));
      clock.tick(49);
      expect(syncs()).to.equal(0);
      expect(clock.countTimers()).to.equal(1);
      clock.tick(1);
      await eventually(() => syncs() === 1);
      expect(clock.countTimers()).to.equal(0);
      log.append(batch(2));
      clock.tick(200);
      await eventually(() => syncs() === 2);
    });

    it('is done at once when asked, instead of later, and only when there is something to sync', async () => {
      const syncs = watchSyncs();
      await log.sync();
      log.append(batch(0));
      await log.sync();
      await log.sync();
      expect(syncs()).to.equal(1);
      expect(clock.countTimers()).to.equal(0);
    });

    it('does not settle with an fsync that began before the last write', async () => {
      const done: Deferred<void>[] = [];
      const syncs = watchSyncs((settle) => {
        const next = new Deferred<void>();
        done.push(next);
        void next.promise.then(() => settle(null));
      });
      log.append(batch(0));
      const first = log.sync();
      await Promise.resolve();
      log.append(batch(1));
      let isSettled = false;
      const second = log.sync().then(() => {
        isSettled = true;
      });
      done[0]?.resolve();
      await first;
      const closed = log.close();
      await eventually(() => done.length === 2);
      expect(isSettled).to.equal(false);
      done[1]?.resolve();
      await second;
      await closed;
      expect(syncs()).to.equal(2);
    });

    it('reports a failure once, and vouches for nothing after it', async () => {
      watchSyncs((done) => done(fsError('EIO')));
      log.append(batch(0));
      clock.tick(200);
      await eventually(() => logger.records.length > 0);
      expect(logger.messages('error')).to.deep.equal(['session log could not be synced']);
      log.append(batch(1));
      expect(await rejectionOf(log.sync())).to.have.property('code', 'EIO');
      expect(await rejectionOf(log.close())).to.have.property('code', 'EIO');
      expect(logger.messages('error')).to.have.length(1);
      expect(await storedSeqs()).to.deep.equal([0, 1]);
    });

    it('is done by close, which releases the descriptor and the timer even when it fails', async () => {
      watchSyncs((done) => done(fsError('EIO')));
      const closes = faults.inject('closeSync', (real) => real);
      log.append(batch(0));
      const before = closes.callCount;
      await rejectionOf(log.close());
      // The log's and the lease's.
      expect(closes.callCount).to.equal(before + 2);
      expect(readdirSync(dirname(path))).to.deep.equal(['session.jsonl']);
      expect(clock.countTimers()).to.equal(0);
    });

    it('covers the directories up to the parent of the topmost one that was made', async () => {
      const synced: string[] = [];
      faults.inject('fsync', (real) => (fd: number, done: (error: Error | null) => void) => {
        synced.push(fstatSync(fd).isFile() ? 'log' : readlinkSync(`/proc/self/fd/${fd}`));
        real(fd, done);
      });
      const root = join(dir.path, 'deep', 'root');
      path = join(root, '--ws--', 's', 'session.jsonl');
      log = newFileLog(root, HEADER, logger);
      log.append(batch(0));
      await log.sync();
      const directories = [dirname(path), join(root, '--ws--'), root, dirname(root), dir.path];
      expect(synced).to.deep.equal(['log', ...directories]);
      log.append(batch(1));
      await log.sync();
      expect(synced).to.have.length(directories.length + 2);
      const second = join(root, '--ws--', 't', 'session.jsonl');
      const other = newFileLog(root, { ...HEADER, id: 't' }, logger);
      other.append(batch(0));
      await other.close();
      expect(synced.slice(directories.length + 2)).to.deep.equal(['log', dirname(second), join(root, '--ws--'), root]);
    });

    it('covers the directories that a first batch made which was refused', async () => {
      const synced: string[] = [];
      const root = join(dir.path, 'root');
      path = join(root, '--ws--', 's', 'session.jsonl');
      log = newFileLog(root, HEADER, logger);
      faults.inject('writeSync', fullForLogs);
      expect(() => log.append(batch(0))).to.throw('ENOSPC');
      faults.heal();
      faults.inject('fsync', (real) => (fd: number, done: (error: Error | null) => void) => {
        if (fstatSync(fd).isDirectory()) synced.push(readlinkSync(`/proc/self/fd/${fd}`));
        real(fd, done);
      });
      log.append(batch(0));
      await log.sync();
      expect(synced).to.deep.equal([dirname(path), join(root, '--ws--'), root, dir.path]);
    });

    for (const code of ['EACCES', 'EINVAL', 'ENOTSUP', 'EPERM']) {
      it(`does without directories where the system says ${code}, and only there`, async () => {
        let directoryError = fsError(code);
        faults.inject('fsync', (real) => (fd: number, done: (error: Error | null) => void) => {
          if (fstatSync(fd).isDirectory()) done(directoryError);
          else real(fd, done);
        });
        log.append(batch(0));
        await log.close();
        directoryError = fsError('EIO');
        const other = newFileLog(dir.path, { ...HEADER, id: 't' }, logger);
        other.append(batch(0));
        expect(await rejectionOf(other.close())).to.have.property('code', 'EIO');
      });
    }
  });
});
