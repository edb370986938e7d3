import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, renameSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { type SinonFakeTimers, useFakeTimers } from 'sinon';
import { ownIdentity } from '../../../src/session/files/process-identity.js';
import { leaseHolder, type SessionLease, SessionLeases } from '../../../src/session/files/session-lease.js';
import { SessionLeasedError } from '../../../src/session/index.js';
import { fsError, useFsFaults } from '../../support/fs-faults.js';
import { RecordingLogger } from '../../support/recording-logger.js';
import { useTempDir } from '../../support/temp-dir.js';

const TAKER = fileURLToPath(new URL('../../support/lease-taker.js', import.meta.url));

/** Members of a lease that differ from a live one of this process; `heardOf`: milliseconds ago. */
interface Fields {
  readonly heardOf?: number;
  readonly [member: string]: unknown;
}

describe('SessionLeases', () => {
  const dir = useTempDir();
  const faults = useFsFaults();
  let path: string;
  let logger: RecordingLogger;
  let leases: SessionLeases;
  const taken: SessionLease[] = [];
  const children: ChildProcess[] = [];
  beforeEach(() => {
    path = join(dir.path, 'session.lease');
    logger = new RecordingLogger();
    leases = new SessionLeases(logger);
  });
  afterEach(async () => {
    for (const lease of taken.splice(0)) lease.release();
    for (const child of children.splice(0)) await kill(child);
  });

  function take(at = path, by = leases): SessionLease {
    const lease = by.take(at, 's');
    taken.push(lease);
    return lease;
  }

  function stored(at = path): Record<string, unknown> {
    return JSON.parse(readFileSync(at, 'utf8'));
  }

  /** A lease as another process left it. */
  function leave({ heardOf = 0, ...fields }: Fields): void {
    const now = Date.now() - heardOf;
    const record = { ...ownIdentity(), startedAt: now, nonce: 'theirs', heartbeatAt: now, ...fields };
    writeFileSync(path, `${JSON.stringify(record)}\n`);
  }

  /** A process that waits to be told to take the lease. */
  async function taker(): Promise<{
    readonly child: ChildProcess;
    readonly take: () => Promise<string>;
  }> {
    const child = spawn(process.execPath, [TAKER, path], { stdio: ['pipe', 'pipe', 'inherit'] });
    children.push(child);
    if (child.stdout === null) throw new Error('no stdout');
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    await lines.next();
    return {
      child,
      take: async () => {
        child.stdin?.write('\n');
        return (await lines.next()).value;
      },
    };
  }

  it('say who holds a session, in a file for its owner only, and nothing else is left', () => {
    const before = Date.now();
    take();
    expect(statSync(path).mode & 0o777).to.equal(0o600);
    const { pid, host, startedAt, heartbeatAt, nonce } = stored();
    expect({ pid, host }).to.deep.equal({ pid: process.pid, host: hostname() });
    expect(startedAt).to.be.within(before, Date.now());
    expect(heartbeatAt).to.equal(startedAt);
    expect(nonce).to.match(/^[0-9a-f-]{36}$/);
    expect(leaseHolder(path)).to.deep.equal({ pid, host, startedAt, heartbeatAt });
  });

  it('refuse a session that is held, by this very process, too, naming the holder', () => {
    take();
    for (const by of [leases, new SessionLeases(logger)]) {
      expect(() => take(path, by))
        .to.throw(SessionLeasedError, `in use by process ${process.pid} on ${hostname()} since`)
        .with.property('code', 'SESSION_LEASED');
    }
    expect(() => take())
      .to.throw()
      .with.property('holder')
      .that.deep.equals(leaseHolder(path));
  });

  it('are free again when they were given back, which may be done twice', () => {
    const lease = take();
    lease.release();
    lease.release();
    expect(leaseHolder(path)).to.equal(undefined);
    take().assertHeld();
  });

  it('fail as the system says where nothing can be written, and leave nothing', () => {
    expect(() => take(join(dir.path, 'none', 'session.lease'))).to.throw('ENOENT');
    faults.inject('linkSync', () => () => {
      throw fsError('EPERM');
    });
    expect(() => take()).to.throw('EPERM');
    faults.heal();
    expect(statSync(dir.path).nlink).to.equal(2);
    take();
  });

  describe('what another process left', () => {
    const aged = { heardOf: 30_500 };
    const rules: readonly (readonly [string, Fields, 'live' | 'stale'])[] = [
      ['of a process that is gone', { pid: 2 ** 22 + 1 }, 'stale'],
      ['of a later process with the same pid', { pidStart: '1' }, 'stale'],
      ['of a running process, however long it was silent', aged, 'live'],
      ['of another machine', { host: 'elsewhere', pid: 2 ** 22 + 1 }, 'live'],
      ['of another machine that was silent for more than 30 s', { host: 'elsewhere', ...aged }, 'stale'],
      ['of a machine whose clock is ahead', { host: 'elsewhere', heardOf: -90_000 }, 'live'],
      ['of another container of the same name', { pidSpace: 'other', pid: 2 ** 22 + 1 }, 'live'],
      ['of another container that was silent for more than 30 s', { pidSpace: 'other', ...aged }, 'stale'],
    ];
    for (const [what, fields, is] of rules) {
      it(`${what} is ${is}`, () => {
        leave(fields);
        expect(leaseHolder(path) === undefined ? 'stale' : 'live').to.equal(is);
        if (is === 'live') {
          expect(() => take()).to.throw(SessionLeasedError);
          expect(stored().nonce).to.equal('theirs');
        } else {
          take().assertHeld();
          expect(stored().pid).to.equal(process.pid);
        }
      });
    }

    for (const text of ['', '{"pid":', '[]', '{"pid":1}']) {
      it(`is free when a power failure left ${JSON.stringify(text)} of it`, () => {
        writeFileSync(path, text);
        take().assertHeld();
      });
    }

    it('is not free when it cannot be read', () => {
      leave({});
      unlinkSync(path);
      // A directory cannot be read even by root.
      faults.inject('linkSync', () => () => {
        throw fsError('EEXIST');
      });
      expect(() => take(dir.path)).to.throw('EISDIR');
    });

    it('is live until the process dies, and stale from its SIGKILL on', async () => {
      const other = await taker();
      expect(await other.take()).to.equal('held');
      expect(() => take()).to.throw(SessionLeasedError, `process ${other.child.pid} on`);
      await kill(other.child);
      take().assertHeld();
    });

    it('is stale when the process is dead and was only never waited for', async () => {
      // What the shell becomes waits for nobody.
      const parent = spawn('bash', ['-c', 'sleep 100 & echo $!; exec sleep 100'], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      children.push(parent);
      const [bytes] = await once(parent.stdout, 'data');
      const pid = Number(String(bytes));
      const until = async (holds: () => boolean): Promise<void> => {
        while (!holds()) await new Promise((resolve) => setImmediate(resolve));
      };
      await until(() => readFileSync(`/proc/${parent.pid}/comm`, 'utf8') === 'sleep\n');
      process.kill(pid, 'SIGKILL');
      await until(() => readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z'));
      const start = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[19];
      leave({ pid, pidStart: start });
      expect(leaseHolder(path)).to.equal(undefined);
    });

    it('is not replaced by somebody who judged it before it was replaced', () => {
      leave({ pid: 2 ** 22 + 1 });
      // A faster one replaces it between the judgement and the replacement.
      let links = 0;
      faults.inject('linkSync', (real) => (...args: Parameters<typeof real>) => {
        links += 1;
        if (links === 2) {
          faults.heal();
          take();
        }
        real(...args);
      });
      expect(() => take()).to.throw(SessionLeasedError, `in use by process ${process.pid}`);
      taken[0]?.assertHeld();
      expect(readdirSync(dir.path)).to.deep.equal(['session.lease']);
    });

    it('is replaced although somebody died while replacing it', () => {
      leave({ pid: 2 ** 22 + 1 });
      renameSync(path, `${path}.theirs`);
      leave({ pid: 2 ** 22 + 1 });
      take().assertHeld();
      expect(readdirSync(dir.path)).to.deep.equal(['session.lease']);
    });

    it('is being replaced: who comes then is told by whom', () => {
      leave({ pid: process.pid });
      renameSync(path, `${path}.theirs`);
      leave({ pid: 2 ** 22 + 1 });
      expect(() => take()).to.throw(SessionLeasedError, `in use by process ${process.pid}`);
      expect(stored().pid).to.equal(2 ** 22 + 1);
    });

    it('goes to exactly one of those who want it at once', async () => {
      for (let round = 0; round < 3; round += 1) {
        leave({ pid: 2 ** 22 + 1 });
        const takers = await Promise.all([taker(), taker(), taker(), taker()]);
        const taken = await Promise.all(takers.map((one) => one.take()));
        for (const result of taken) expect(result).to.be.oneOf(['held', 'SESSION_LEASED']);
        expect(taken.filter((result) => result === 'held')).to.have.length(1);
        expect(takers[taken.indexOf('held')]?.child.pid).to.equal(stored().pid);
        expect(readdirSync(dir.path)).to.deep.equal(['session.lease']);
        for (const { child } of takers) await kill(child);
        unlinkSync(path);
      }
    });
  });

  describe('a lease that was lost', () => {
    const steal = (): void => {
      const theirs = join(dir.path, 'theirs');
      const record = { ...stored(), pid: 77, host: 'elsewhere', nonce: 'theirs', startedAt: 1_700_000_000_000 };
      writeFileSync(theirs, `${JSON.stringify(record)}\n`);
      renameSync(theirs, path);
    };

    it('says who has it now', () => {
      const lease = take();
      lease.assertHeld();
      steal();
      expect(() => lease.assertHeld())
        .to.throw('session "s" was taken over by process 77 on elsewhere at 2023-11-14T22:13:20.000Z')
        .with.property('code', 'LEASE_LOST');
    });

    it('is lost as well when its file is gone or cut off', () => {
      const lease = take();
      unlinkSync(path);
      expect(() => lease.assertHeld())
        .to.throw(`is gone from ${path}`)
        .with.property('code', 'LEASE_LOST');
      writeFileSync(path, '');
      expect(() => lease.assertHeld())
        .to.throw()
        .with.property('code', 'LEASE_LOST');
    });

    it('is not taken from who has it now', () => {
      const lease = take();
      steal();
      lease.release();
      expect(stored().nonce).to.equal('theirs');
    });
  });

  describe('the heartbeat', () => {
    let clock: SinonFakeTimers;
    beforeEach(() => {
      clock = useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'], now: 1_750_000_000_000 });
    });
    afterEach(() => clock.restore());

    it('comes every 5 s, from one timer for all sessions, and ends with the last one', () => {
      const second = join(dir.path, 'second.lease');
      const [one, two] = [take(), take(second)];
      const length = statSync(path).size;
      expect(clock.countTimers()).to.equal(1);
      clock.tick(15_000);
      for (const at of [path, second]) expect(stored(at).heartbeatAt).to.equal(1_750_000_015_000);
      expect(stored().startedAt).to.equal(1_750_000_000_000);
      expect(statSync(path).size).to.equal(length);
      one.release();
      clock.tick(5_000);
      expect(stored(second).heartbeatAt).to.equal(1_750_000_020_000);
      two.release();
      expect(clock.countTimers()).to.equal(0);
    });

    it('never reaches the file of somebody else', () => {
      take();
      const theirs = join(dir.path, 'theirs');
      writeFileSync(theirs, 'theirs');
      renameSync(theirs, path);
      clock.tick(5_000);
      expect(readFileSync(path, 'utf8')).to.equal('theirs');
    });

    it('says once that the lease is lost, and stops', () => {
      take();
      writeFileSync(join(dir.path, 'theirs'), 'theirs');
      renameSync(join(dir.path, 'theirs'), path);
      clock.tick(10_000);
      expect(logger.messages('warn')).to.deep.equal(['a session lease could not be renewed']);
      expect(clock.countTimers()).to.equal(0);
    });

    it('that fails is reported, and the others go on', () => {
      const second = join(dir.path, 'second.lease');
      take();
      take(second);
      let calls = 0;
      faults.inject('writeSync', (real) => (...args: Parameters<typeof real>) => {
        calls += 1;
        if (calls === 1) throw fsError('EIO');
        return real(...args);
      });
      clock.tick(5_000);
      expect(logger.messages('warn')).to.deep.equal(['a session lease could not be renewed']);
      expect(stored(second).heartbeatAt).to.equal(1_750_000_005_000);
    });
  });
});

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
