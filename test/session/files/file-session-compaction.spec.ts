import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { array, assert, asyncProperty, constantFrom, nat, record } from 'fast-check';
import { stub } from 'sinon';
import type { SessionEvent } from '../../../src/protocol/index.js';
import { compactSessionFile } from '../../../src/session/files/compact-session-file.js';
import type { FileSessionConfig } from '../../../src/session/files/file-session-config.js';
import { canWriteZstd, compressor, type LogForm, zlib } from '../../../src/session/files/log-compression.js';
import { SessionPlace } from '../../../src/session/files/session-place.js';
import { fileRepository } from '../../support/file-logs.js';
import { fsError, useFsFaults } from '../../support/fs-faults.js';
import { readLog } from '../../support/read-log.js';
import { RecordingLogger } from '../../support/recording-logger.js';
import { rejectionOf } from '../../support/rejection-of.js';
import { runs } from '../../support/runs.js';
import { encoded, logText, SAMPLE_HEADER, turnEvents, turns } from '../../support/sample-log.js';
import { useTempDir } from '../../support/temp-dir.js';

const forms: readonly LogForm[] = canWriteZstd() ? ['none', 'gzip', 'zstd'] : ['none', 'gzip'];

describe('a log that is closed', () => {
  const dir = useTempDir();
  const faults = useFsFaults();
  let logger: RecordingLogger;
  beforeEach(() => {
    logger = new RecordingLogger();
  });

  const place = (): string => join(dir.path, '--ws--', 's');
  const files = (): string[] => readdirSync(place());

  /** Writes a session and closes it. @returns what of it stands in the directory then */
  async function writeAndClose(
    events: readonly SessionEvent[],
    config: Partial<FileSessionConfig> = {},
    options: { readonly asIs?: boolean } = {},
  ): Promise<string[]> {
    const log = await fileRepository(dir.path, config, logger).create(SAMPLE_HEADER);
    log.append(encoded(events));
    await log.close(options);
    return files();
  }

  const read = () => readLog(fileRepository(dir.path), 's');
  const text = (name = 'session.jsonl'): string => readFileSync(join(place(), name), 'utf8');

  it('has its closed turns packed, and nothing else changed (core §4.3)', async () => {
    const events = turns(2);
    expect(await writeAndClose(events)).to.deep.equal(['session.jsonl']);
    const lines = text().trimEnd().split('\n');
    expect(lines[0]).to.equal(JSON.stringify(SAMPLE_HEADER));
    expect(lines.filter((line) => line.startsWith('{"type":"text-chunks"'))).to.have.length(2);
    expect(lines).to.have.length(events.length + 1 - 2 * 3);
    expect((await read()).events).to.deep.equal(events);
    expect(statSync(join(place(), 'session.jsonl')).mode & 0o777).to.equal(0o600);
  });

  it('keeps an open turn plain', async () => {
    const events = [...turns(1), ...turnEvents({ turn: 2, seq: turns(1).length }).slice(0, -1)];
    await writeAndClose(events);
    expect(text().match(/"text-chunks"/g)).to.have.length(1);
    expect(
      text().endsWith(
        logText(events.slice(turns(1).length))
          .split('\n')
          .slice(1)
          .join('\n'),
      ),
    ).to.equal(true);
    expect((await read()).events).to.deep.equal(events);
  });

  const unchanged: readonly (readonly [string, readonly SessionEvent[], Partial<FileSessionConfig>, object])[] = [
    ['when the process is in a hurry', turns(2), { compression: 'gzip' }, { asIs: true }],
    ['when nothing is to be packed', turns(2), { packChunks: false }, {}],
    ['when there are no runs', turns(2, ['Answer']), {}, {}],
    ['when no turn is closed', turns(1).slice(0, -1), {}, {}],
  ];
  for (const [what, events, config, options] of unchanged) {
    it(`is left as it is ${what}`, async () => {
      const inode = async (): Promise<number> => statSync(join(place(), 'session.jsonl')).ino;
      const log = await fileRepository(dir.path, config).create(SAMPLE_HEADER);
      log.append(encoded(events));
      const before = await inode();
      await log.close(options);
      expect(await inode()).to.equal(before);
      expect(files()).to.deep.equal(['session.jsonl']);
      expect(text()).to.equal(logText(events));
    });
  }

  it('is packed as well when its turn ended in the batch of the next one', async () => {
    const events = turns(3, ['é', '台', '🔥', 'x']);
    const repository = fileRepository(dir.path);
    const log = await repository.create(SAMPLE_HEADER);
    for (const [from, to] of [
      [0, 5],
      [5, 20],
      [20, events.length - 1],
    ] as const)
      log.append(encoded(events.slice(from, to)));
    await log.close();
    expect((await read()).events).to.deep.equal(events.slice(0, -1));
    expect(text().match(/"text-chunks"/g)).to.have.length(2);
  });

  it('is packed after it was resumed, with what the last life left plain', async () => {
    const events = turns(2);
    await writeAndClose(events, {}, { asIs: true });
    const repository = fileRepository(dir.path);
    const { log } = await repository.resume('s', () => undefined);
    await log.close();
    expect(text().match(/"text-chunks"/g)).to.have.length(2);
    const again = await repository.resume('s', () => undefined);
    const third = turnEvents({ turn: 3, seq: events.length });
    again.log.append(encoded(third));
    await again.log.close();
    expect(text().match(/"text-chunks"/g)).to.have.length(3);
    expect((await read()).events).to.deep.equal([...events, ...third]);
  });

  it('is compressed with gzip where the row says so, header and lines in members of their own', async () => {
    const events = turns(2);
    expect(await writeAndClose(events, { compression: 'gzip' })).to.deep.equal(['session.jsonl.gz']);
    const bytes = readFileSync(join(place(), 'session.jsonl.gz'));
    expect(gunzipSync(bytes).toString())
      .to.contain('"text-chunks"')
      .and.to.match(/^.*\n(.*\n)*$/);
    const second = bytes.indexOf(Buffer.from([0x1f, 0x8b, 8]), 3);
    expect(gunzipSync(bytes.subarray(0, second)).toString()).to.equal(logText([]));
    expect((await read()).events).to.deep.equal(events);
  });

  if (canWriteZstd()) {
    it('is compressed with zstd, frame 1 the header alone, with checksums (core §4.4)', async () => {
      const events = turns(2);
      expect(await writeAndClose(events, { compression: 'zstd' })).to.deep.equal(['session.jsonl.zstd']);
      const bytes = readFileSync(join(place(), 'session.jsonl.zstd'));
      const magic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
      const second = bytes.indexOf(magic, 4);
      const { zstdDecompressSync } = zlib() as unknown as { zstdDecompressSync(bytes: Uint8Array): Buffer };
      expect(zstdDecompressSync(bytes.subarray(0, second)).toString()).to.equal(logText([]));
      for (const frame of [0, second]) expect(bytes.readUInt8(frame + 4) & 4).to.equal(4);
      expect((await read()).events).to.deep.equal(events);
    });
  } else {
    it('cannot be compressed with zstd here (decision 41)', () => {
      expect(() => compressor('zstd'))
        .to.throw('needs Node 22.15')
        .with.property('code', 'INVALID_CONFIG');
    });
  }

  for (const compression of forms.filter((form) => form !== 'none')) {
    it(`is compressed with ${compression} in bounded pieces of whole lines`, async () => {
      const events = turns(
        6,
        Array.from({ length: 3_000 }, (_, at) => `piece ${at} 台 ${'x'.repeat(at % 200)}`),
      );
      await writeAndClose(events, { compression, packChunks: false });
      expect((await read()).eventCount).to.equal(events.length);
      const [name = ''] = files();
      if (compression !== 'gzip') return;
      let members = 0;
      const bytes = readFileSync(join(place(), name));
      for (let at = 0; at < bytes.length; members += 1) {
        const { buffer, engine } = inflateAt(bytes, at);
        expect(buffer.toString('utf8').endsWith('\n')).to.equal(true);
        expect(buffer.length).to.be.lessThan(1.5 * 1024 * 1024);
        at += 10 + engine.bytesWritten + 8;
      }
      expect(members).to.be.greaterThan(2);
    });
  }

  it('goes through every form and many lives without a changed byte', async () => {
    const life = record({
      compression: constantFrom(...forms),
      packChunks: constantFrom(true, false),
      asIs: constantFrom(false, false, true),
      turns: array(nat(8), { maxLength: 3 }),
      open: constantFrom(false, false, true),
    });
    let number = 0;
    await assert(
      asyncProperty(array(life, { minLength: 1, maxLength: 4 }), async (lives) => {
        number += 1;
        const header = { ...SAMPLE_HEADER, id: `s${number}` };
        const events: SessionEvent[] = [];
        for (const { compression, packChunks, asIs, turns: sizes } of lives) {
          const repository = fileRepository(dir.path, { compression, packChunks });
          const stored = await repository.find(header.id);
          const log =
            stored === undefined
              ? await repository.create(header)
              : (await repository.resume(header.id, () => undefined)).log;
          for (const size of sizes) {
            const turn = events.filter(({ type }) => type === 'turn/end').length + 1;
            const texts = Array.from({ length: size }, (_, at) => `${at}é`);
            const next = turnEvents({ turn, seq: events.length, texts });
            log.append(encoded(next));
            events.push(...next);
          }
          await log.close({ asIs });
        }
        if (events.length === 0) return;
        const reading = await readLog(fileRepository(dir.path), header.id);
        expect(reading.events.map((event) => JSON.stringify(event))).to.deep.equal(
          encoded(events).map(({ json }) => json),
        );
        expect(readdirSync(join(dir.path, '--ws--', header.id))).to.have.length(1);
      }),
      runs(40),
    );
  });

  describe('when packing fails', () => {
    const events = turns(2);

    it('stays as it was, and closing it succeeds', async () => {
      const log = await fileRepository(dir.path, { compression: 'gzip' }, logger).create(SAMPLE_HEADER);
      log.append(encoded(events));
      // Nothing can be renamed onto a directory.
      mkdirSync(join(place(), 'session.jsonl.gz'));
      await log.close();
      expect(files().sort()).to.deep.equal(['session.jsonl', 'session.jsonl.gz']);
      expect(text()).to.equal(logText(events));
      expect(logger.messages('warn')).to.deep.equal(['session log could not be compacted']);
    });

    it('gives packing up when it has to hurry, and leaves the log as it is', async () => {
      const hurry = new AbortController();
      const log = await fileRepository(dir.path, { compression: 'gzip' }, logger).create(SAMPLE_HEADER);
      log.append(encoded(events));
      const closing = log.close({ hurry: hurry.signal });
      hurry.abort();
      await closing;
      expect(files()).to.deep.equal(['session.jsonl']);
      expect(text()).to.equal(logText(events));
      expect(logger.messages('warn')).to.deep.equal([]);
    });

    for (const asIs of [false, true]) {
      it(`does not keep what a failed write left behind${asIs ? ', even in a hurry' : ''}`, async () => {
        const log = await fileRepository(dir.path, {}, logger).create(SAMPLE_HEADER);
        log.append(encoded(events));
        const next = turnEvents({ turn: 3, seq: events.length });
        let calls = 0;
        faults.inject('writeSync', (real) => (fd: number, bytes: Uint8Array, at: number) => {
          calls += 1;
          if (calls === 2) throw fsError('ENOSPC');
          return real(fd, bytes, at, 100);
        });
        faults.inject('ftruncateSync', () => () => {
          throw fsError('EIO');
        });
        expect(() => log.append(encoded(next))).to.throw('ENOSPC');
        faults.heal();
        await log.close({ asIs });
        const after = await read();
        expect(after.events).to.deep.equal(events);
        expect(after.condition).to.deep.equal({ kind: 'sound' });
        expect(text().includes('"text-chunks"')).to.equal(!asIs);
      });
    }

    it('says so when what a failed write left behind cannot be removed, and lets the session go', async () => {
      const log = await fileRepository(dir.path, {}, logger).create(SAMPLE_HEADER);
      log.append(encoded(events));
      faults.inject('writeSync', () => () => {
        throw fsError('ENOSPC');
      });
      faults.inject('ftruncateSync', () => () => {
        throw fsError('EIO');
      });
      expect(() => log.append(encoded(turnEvents({ turn: 3, seq: events.length })))).to.throw('ENOSPC');
      expect(await rejectionOf(log.close())).to.have.property('code', 'EIO');
      expect(files()).to.deep.equal(['session.jsonl']);
    });

    it('leaves the log alone when it is somebody else’s at the last moment', async () => {
      const place = SessionPlace.in(join(dir.path, '--ws--', 's'));
      await writeAndClose(events, {}, { asIs: true });
      const bytes = Buffer.byteLength(logText(events));
      const extent = { headerBytes: Buffer.byteLength(logText([])), bytes, packedBytes: bytes };
      const lost = compactSessionFile(place, place.fileOf('none'), 'gzip', extent, () => {
        throw new Error('lost');
      });
      expect((await rejectionOf(lost)).message).to.equal('lost');
      expect(files()).to.deep.equal(['session.jsonl']);
      expect(text()).to.equal(logText(events));
    });

    it('has the new file on the disk before it takes the place of the old one', async () => {
      const handle = await open(join(dir.path, 'any'), 'w');
      const sync = stub(Object.getPrototypeOf(handle) as FileHandle, 'sync').callsFake(async () => {
        expect(text()).to.equal(logText(events));
      });
      await handle.close();
      await writeAndClose(events);
      expect(sync.callCount).to.equal(1);
      expect(text()).to.contain('"text-chunks"');
    });

    it('is not packed when the session is somebody else’s by then', async () => {
      const log = await fileRepository(dir.path, {}, logger).create(SAMPLE_HEADER);
      log.append(encoded(events));
      const lease = join(place(), 'session.lease');
      writeFileSync(lease, JSON.stringify({ pid: 1, host: 'x', startedAt: 1, nonce: 'n', heartbeatAt: Date.now() }));
      await log.close();
      expect(text()).to.equal(logText(events));
      expect(files().sort()).to.deep.equal(['session.jsonl', 'session.lease']);
      expect(dirname(lease)).to.equal(place());
    });
  });
});

function inflateAt(
  bytes: Buffer,
  at: number,
): { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } } {
  return zlib().inflateRawSync(bytes.subarray(at + 10), { info: true }) as never;
}
