import {
  appendFileSync,
  copyFileSync,
  fstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { packageInfo } from '../../../src/base/index.js';
import type { SessionEvent } from '../../../src/protocol/index.js';
import type { ResumedLog, SessionRepository } from '../../../src/session/index.js';
import { fileRepository } from '../../support/file-logs.js';
import { fsError, useFsFaults } from '../../support/fs-faults.js';
import { readLog } from '../../support/read-log.js';
import { rejectionOf } from '../../support/rejection-of.js';
import { encoded, logText, SAMPLE_HEADER, turnEvents, turns } from '../../support/sample-log.js';
import { useTempDir } from '../../support/temp-dir.js';

const fixtures = join(packageInfo().root, 'test', 'fixtures', 'logs');

describe('FileSessionRepository, resuming', () => {
  const dir = useTempDir();
  const faults = useFsFaults();
  const first = turnEvents({ turn: 1, seq: 0 });
  const second = turnEvents({ turn: 2, seq: first.length });
  let repository: SessionRepository;
  beforeEach(() => {
    repository = fileRepository(dir.path);
  });

  function store(text: string | Buffer, name = 'session.jsonl'): string {
    const path = join(dir.path, '--ws--', 's', name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }
  const files = (): string[] => readdirSync(join(dir.path, '--ws--', 's'));

  async function resume(by = repository): Promise<ResumedLog & { readonly events: readonly SessionEvent[] }> {
    const events: SessionEvent[] = [];
    return { ...(await by.resume('s', (event) => events.push(event))), events };
  }

  it('gives the events and appends after the last one', async () => {
    const path = store(logText(first));
    const { log, reading, events } = await resume();
    expect(events).to.deep.equal(first);
    expect(reading).to.deep.equal({ header: SAMPLE_HEADER, eventCount: first.length, condition: { kind: 'sound' } });
    expect(log.location).to.equal(path);
    expect(() => log.append(encoded(turnEvents({ turn: 2, seq: 3 })))).to.throw(`where ${first.length} is next`);
    log.append(encoded(second));
    await log.close({ asIs: true });
    expect(readFileSync(path, 'utf8')).to.equal(logText([...first, ...second]));
    expect(files()).to.deep.equal(['session.jsonl']);
  });

  it('repairs the tail before it appends, wherever the log was cut (G1, G5)', async () => {
    const title = {
      type: 'session/title',
      seq: 4,
      time: 1,
      data: { title: '台🔥', messageSeqs: [], source: { kind: 'user' } },
    };
    const events = [
      { type: 'turn/start', seq: 0, time: 1, data: { turn: 1 } },
      { type: 'step/start', seq: 1, time: 1, data: { turn: 1, step: 1 } },
      { type: 'step/end', seq: 2, time: 1, data: { turn: 1, step: 1 } },
      { type: 'turn/end', seq: 3, time: 1, data: { turn: 1, reason: { kind: 'completed' } } },
      title,
      { type: 'turn/start', seq: 5, time: 1, data: { turn: 2 } },
    ];
    const whole = Buffer.from(logText(events.map((event) => JSON.stringify(event))));
    const header = Buffer.byteLength(logText([]));
    const goodAt = (length: number): number => whole.lastIndexOf('\n', length - 1) + 1;
    for (let length = header; length <= whole.length; length += 1) {
      const path = store(whole.subarray(0, length));
      const { log, reading } = await resume();
      const seq = reading.eventCount;
      expect(reading.condition.kind).to.equal(goodAt(length) === length ? 'sound' : 'torn');
      const added = encoded([{ ...first[0], seq } as SessionEvent]);
      log.append(added);
      await log.close({ asIs: true });
      const text = Buffer.concat([whole.subarray(0, goodAt(length)), Buffer.from(`${added[0]?.json}\n`)]);
      expect(readFileSync(path).equals(text)).to.equal(true);
      const again = await readLog(repository, 's');
      expect(again.condition).to.deep.equal({ kind: 'sound' });
      expect(again.eventCount).to.equal(seq + 1);
    }
  });

  it('leaves a damaged log alone, says what to do, and gives the lease back (G2)', async () => {
    const text = logText([...first, 'garbage', ...second]);
    const path = store(text);
    const failure = await rejectionOf(resume());
    expect(failure).to.have.property('code', 'SESSION_DAMAGED');
    expect(failure.message).to.contain(`session "s" is damaged, ${path}:${first.length + 2}: `);
    expect(failure.message).to.contain('"dsh sessions repair s --drop-damage"').and.to.contain('"dsh sessions fork s"');
    expect(readFileSync(path, 'utf8')).to.equal(text);
    expect(files()).to.deep.equal(['session.jsonl']);
    expect((await readLog(repository, 's')).events).to.deep.equal(first);
  });

  const refusals: readonly (readonly [string, string, string])[] = [
    ['has no header', '', 'SESSION_CORRUPT'],
    ['is of another session', logText([], { ...SAMPLE_HEADER, id: 't' }), 'SESSION_CORRUPT'],
    ['is newer', logText([], { ...SAMPLE_HEADER, version: 3 }), 'SESSION_FORMAT_UNSUPPORTED'],
    ['has unknown events', logText(['{"type":"x/y","seq":0,"time":1,"data":{}}']), 'SESSION_FORMAT_UNSUPPORTED'],
  ];
  for (const [what, text, code] of refusals) {
    it(`refuses a log that ${what}, and gives the lease back`, async () => {
      const path = store(text);
      expect(await rejectionOf(resume())).to.have.property('code', code);
      expect(readFileSync(path, 'utf8')).to.equal(text);
      expect(files()).to.deep.equal(['session.jsonl']);
    });
  }

  it('refuses what is not stored', async () => {
    expect(await rejectionOf(resume())).to.have.property('code', 'SESSION_NOT_FOUND');
    mkdirSync(join(dir.path, '--ws--', 's'), { recursive: true });
    expect(await rejectionOf(resume())).to.have.property('code', 'SESSION_NOT_FOUND');
  });

  it('refuses a session that is live, until it is closed', async () => {
    store(logText(first));
    const { log } = await resume();
    for (const by of [repository, fileRepository(dir.path)]) {
      const failure = await rejectionOf(resume(by));
      expect(failure).to.have.property('code', 'SESSION_LEASED');
      expect(failure).to.have.nested.property('holder.pid', process.pid);
    }
    await log.close();
    await (await resume()).log.close();
  });

  it('lets a new session be resumed only when it is closed', async () => {
    const log = await repository.create(SAMPLE_HEADER);
    log.append(encoded(first));
    expect(await rejectionOf(resume())).to.have.property('code', 'SESSION_LEASED');
    log.append(encoded(second));
    await log.close();
    expect((await readLog(repository, 's')).eventCount).to.equal(first.length + second.length);
  });

  it('takes a new session only when nobody has it, and stores it when they are gone', async () => {
    const log = await repository.create(SAMPLE_HEADER);
    mkdirSync(join(dir.path, '--ws--', 's'), { recursive: true });
    const lease = join(dir.path, '--ws--', 's', 'session.lease');
    const now = Date.now();
    writeFileSync(
      lease,
      JSON.stringify({ pid: 1, host: 'elsewhere', startedAt: now, nonce: 'theirs', heartbeatAt: now }),
    );
    expect(() => log.append(encoded(first))).to.throw('in use by process 1 on elsewhere');
    expect(files()).to.deep.equal(['session.lease']);
    unlinkSync(lease);
    log.append(encoded(first));
    await log.close();
    expect((await readLog(repository, 's')).events).to.deep.equal(first);
  });

  for (const name of ['session.jsonl.gz', 'session.jsonl.zstd']) {
    it(`does not begin a session that came as ${name} in the meantime`, async () => {
      const log = await repository.create(SAMPLE_HEADER);
      store(gzipSync(logText(first)), name);
      expect(() => log.append(encoded(first))).to.throw('stored already');
      expect(files()).to.deep.equal([name]);
      await log.close();
    });
  }

  it('writes nothing more of a session that somebody else has taken over, and leaves it to them', async () => {
    const path = store(logText(first));
    const { log } = await resume();
    log.assertHeld();
    log.append(encoded(second));
    const text = readFileSync(path, 'utf8');
    const lease = join(dirname(path), 'session.lease');
    const theirs = JSON.stringify({
      pid: 7,
      host: 'elsewhere',
      startedAt: 1,
      nonce: 'theirs',
      heartbeatAt: Date.now(),
    });
    writeFileSync(lease, theirs);
    expect(() => log.assertHeld())
      .to.throw('taken over by process 7 on elsewhere')
      .with.property('code', 'LEASE_LOST');
    const seq = first.length + second.length;
    expect(() => log.append(encoded(turnEvents({ turn: 3, seq }))))
      .to.throw()
      .with.property('code', 'LEASE_LOST');
    await log.close();
    expect(readFileSync(path, 'utf8')).to.equal(text);
    expect(readFileSync(lease, 'utf8')).to.equal(theirs);
  });

  for (const name of ['session.jsonl', 'session.jsonl.gz']) {
    it(`changes nothing of a ${name} that somebody took over while it was read`, async () => {
      const text = Buffer.from(`${logText(first)}torn`);
      const bytes = name.endsWith('gz') ? gzipSync(text) : text;
      const path = store(bytes, name);
      const lease = join(dirname(path), 'session.lease');
      const theirs = JSON.stringify({ pid: 7, host: 'x', startedAt: 1, nonce: 'theirs', heartbeatAt: Date.now() });
      const failure = await rejectionOf(repository.resume('s', () => writeFileSync(lease, theirs)));
      expect(failure).to.have.property('code', 'LEASE_LOST');
      expect(readFileSync(path)).to.deep.equal(bytes);
      expect(readFileSync(lease, 'utf8')).to.equal(theirs);
      expect(files().sort()).to.deep.equal([name, 'session.lease']);
    });
  }

  it('does not begin a session that came and went before the lease was taken', async () => {
    const log = await repository.create(SAMPLE_HEADER);
    faults.inject('linkSync', (real) => (from: string, to: string) => {
      store(gzipSync(logText(first)), 'session.jsonl.gz');
      real(from, to);
    });
    expect(() => log.append(encoded(first))).to.throw('stored already');
    expect(files()).to.deep.equal(['session.jsonl.gz']);
  });

  it('syncs what it cut off', async () => {
    store(`${logText(first)}torn`);
    const { log } = await resume();
    let synced = 0;
    faults.inject('fsync', (real) => (fd: number, done: (error: Error | null) => void) => {
      if (fstatSync(fd).isFile()) synced += 1;
      real(fd, done);
    });
    await log.close({ asIs: true });
    expect(synced).to.equal(1);
  });

  it('reports a lease that cannot be made, and a log that cannot be opened', async () => {
    store(logText(first));
    faults.inject('linkSync', () => () => {
      throw fsError('EROFS');
    });
    expect(await rejectionOf(resume())).to.have.property('code', 'STORE_FAILED');
    faults.heal();
    store(`${logText(first)}torn`);
    faults.inject('ftruncateSync', () => () => {
      throw fsError('EIO');
    });
    const failure = await rejectionOf(resume());
    expect(failure).to.have.property('code', 'STORE_FAILED');
    expect(failure.message).to.match(/cannot be continued: EIO/);
    expect(files()).to.deep.equal(['session.jsonl']);
  });

  describe('a compressed log', () => {
    const packed = readFileSync(join(fixtures, 'packed.jsonl'), 'utf8').replace('"id":"fixture"', '"id":"s"');

    it('is unpacked, and the compressed file is gone (decision 38)', async () => {
      store(gzipSync(packed), 'session.jsonl.gz');
      const { log, reading } = await resume();
      expect(reading.condition).to.deep.equal({ kind: 'sound' });
      expect(files().sort()).to.deep.equal(['session.jsonl', 'session.lease']);
      const path = join(dir.path, '--ws--', 's', 'session.jsonl');
      expect(readFileSync(path, 'utf8')).to.equal(packed);
      expect(statSync(path).mode & 0o777).to.equal(0o600);
      log.append(encoded([{ ...first[0], seq: reading.eventCount } as SessionEvent]));
      await log.close();
      expect((await readLog(repository, 's')).eventCount).to.equal(reading.eventCount + 1);
    });

    it('of the reference is continued', async () => {
      const directory = join(dir.path, '--workspace--', 'fixture');
      mkdirSync(directory, { recursive: true });
      copyFileSync(join(fixtures, 'packed.jsonl.zstd'), join(directory, 'session.jsonl.zstd'));
      const { log, reading } = await repository.resume('fixture', () => undefined);
      log.append(encoded([{ ...first[0], seq: reading.eventCount } as SessionEvent]));
      await log.close({ asIs: true });
      expect(readdirSync(directory)).to.deep.equal(['session.jsonl']);
      const plain = readFileSync(join(fixtures, 'packed.jsonl'), 'utf8');
      expect(readFileSync(join(directory, 'session.jsonl'), 'utf8').startsWith(plain)).to.equal(true);
    });

    it('loses its torn end only', async () => {
      store(gzipSync(`${logText(first)}{"type":"tor`), 'session.jsonl.gz');
      const { log, reading } = await resume();
      expect(reading.condition.kind).to.equal('torn');
      await log.close({ asIs: true });
      expect(readFileSync(join(dir.path, '--ws--', 's', 'session.jsonl'), 'utf8')).to.equal(logText(first));
    });

    it('stays when it cannot be unpacked', async () => {
      store(gzipSync(logText(first)), 'session.jsonl.gz');
      faults.inject('fsync', (real) => real);
      mkdirSync(join(dir.path, '--ws--', 's', 'session.jsonl'));
      const failure = await rejectionOf(resume());
      expect(failure).to.have.property('code', 'STORE_FAILED');
      rmSync(join(dir.path, '--ws--', 's', 'session.jsonl'), { recursive: true });
      expect(files()).to.deep.equal(['session.jsonl.gz']);
      expect((await readLog(repository, 's')).events).to.deep.equal(first);
    });
  });

  describe('what a crash left', () => {
    const compressed = gzipSync(logText(first));

    it('the plain file wins when it is complete (decision 38)', async () => {
      store(logText([...first, ...second]));
      store(compressed, 'session.jsonl.gz');
      store('x', 'session.jsonl.0123456789ab.tmp');
      expect((await readLog(repository, 's')).eventCount).to.equal(first.length + second.length);
      const { log, events } = await resume();
      expect(events).to.deep.equal([...first, ...second]);
      expect(files().sort()).to.deep.equal(['session.jsonl', 'session.lease']);
      await log.close();
    });

    for (const [what, text] of [
      ['is cut off', logText(first).slice(0, -20)],
      ['lacks its last newline', logText(first).slice(0, -1)],
      ['is empty', ''],
      ['is garbage', 'garbage\n'],
      ['is damaged', logText([...first.slice(0, 3), 'garbage', ...first.slice(3)])],
    ] as const) {
      it(`the compressed one wins when the plain file ${what}`, async () => {
        const path = store(text);
        store(compressed, 'session.jsonl.gz');
        expect((await readLog(repository, 's')).events).to.deep.equal(first);
        const { log, events } = await resume();
        expect(events).to.deep.equal(first);
        expect(files().sort()).to.deep.equal(['session.jsonl', 'session.lease']);
        await log.close({ asIs: true });
        expect(readFileSync(path, 'utf8')).to.equal(logText(first));
      });
    }

    it('nothing is appended beside a compressed file that cannot be removed', async () => {
      const path = store(logText(first));
      // A directory cannot be unlinked.
      mkdirSync(join(dirname(path), 'session.jsonl.gz'));
      expect(await rejectionOf(resume())).to.have.property('code', 'STORE_FAILED');
      expect(readFileSync(path, 'utf8')).to.equal(logText(first));
    });
  });

  it('is found whenever it is looked for while others compress and unpack it', async () => {
    const path = store(logText(first));
    const gzip = gzipSync(logText(first));
    const temporary = join(dir.path, 'temporary');
    let isPlain = true;
    const flip = setInterval(() => {
      writeFileSync(temporary, isPlain ? gzip : logText(first));
      renameSync(temporary, isPlain ? `${path}.gz` : path);
      unlinkSync(isPlain ? path : `${path}.gz`);
      isPlain = !isPlain;
    }, 1);
    try {
      for (let look = 0; look < 200; look += 1) {
        expect((await readLog(repository, 's')).eventCount).to.equal(first.length);
        expect((await repository.find('s'))?.id).to.equal('s');
      }
    } finally {
      clearInterval(flip);
    }
  });

  it('says that a file is not there, when it never is', async () => {
    const path = store('');
    rmSync(path);
    symlinkSync(join(dir.path, 'nowhere'), path);
    expect(await rejectionOf(readLog(repository, 's'))).to.have.property('code', 'STORE_FAILED');
  });

  it('reads logs of all forms in one root', async () => {
    const events = turns(2);
    for (const [id, bytes, name] of [
      ['a', Buffer.from(logText(events, { ...SAMPLE_HEADER, id: 'a' })), 'session.jsonl'],
      ['b', gzipSync(logText(events, { ...SAMPLE_HEADER, id: 'b' })), 'session.jsonl.gz'],
      ['fixture', readFileSync(join(fixtures, 'packed.jsonl.zstd')), 'session.jsonl.zstd'],
    ] as const) {
      const directory = join(dir.path, '--ws--', id);
      mkdirSync(directory, { recursive: true });
      writeFileSync(join(directory, name), bytes);
      expect((await repository.find(id))?.id).to.equal(id);
      expect((await readLog(repository, id)).condition).to.deep.equal({ kind: 'sound' });
      expect(await rejectionOf(repository.create({ ...SAMPLE_HEADER, id, cwd: '/other' }))).to.have.property(
        'code',
        'SESSION_STORED',
      );
    }
  });

  it('tells a torn live log from a whole one while it is written', async () => {
    const path = store(logText(first));
    appendFileSync(path, '{"type":"turn/st');
    const { condition, eventCount } = await readLog(repository, 's');
    expect(condition.kind).to.equal('torn');
    expect(eventCount).to.equal(first.length);
  });
});
