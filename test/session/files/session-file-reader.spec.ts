import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { packageInfo } from '../../../src/base/index.js';
import type { SessionEvent } from '../../../src/protocol/index.js';
import type { TextReading } from '../../../src/session/files/log-parser.js';
import { foldFile, readSessionFile, readSessionFileHeader } from '../../../src/session/files/session-file-reader.js';
import type { StoredLogFile } from '../../../src/session/files/session-place.js';
import type { EventVisitor } from '../../../src/session/index.js';
import { rejectionOf } from '../../support/rejection-of.js';
import { logText, SAMPLE_HEADER, turnEvents, turns } from '../../support/sample-log.js';
import { useTempDir } from '../../support/temp-dir.js';

const fixtures = join(packageInfo().root, 'test', 'fixtures', 'logs');
const TURN = JSON.stringify(turnEvents({ turn: 2, seq: 900 }).at(-1));

interface ReadLog extends TextReading {
  readonly events: readonly SessionEvent[];
}

async function readAll(file: StoredLogFile, refuse: EventVisitor = () => undefined): Promise<ReadLog> {
  const events: SessionEvent[] = [];
  const visit = (event: SessionEvent): void => {
    refuse(event);
    events.push(event);
  };
  return { ...(await readSessionFile(file, { visit })), events };
}

describe('readSessionFile', () => {
  const dir = useTempDir();
  const plain = readFileSync(join(fixtures, 'plain.jsonl'), 'utf8');
  const expected = plain.trimEnd().split('\n').slice(1);

  function stored(bytes: string | Buffer, form: StoredLogFile['form'] = 'none'): StoredLogFile {
    const path = join(dir.path, 'log');
    writeFileSync(path, bytes);
    return { path, form };
  }

  describe('takes every form', () => {
    const packed = readFileSync(join(fixtures, 'packed.jsonl'));
    const mixed = [...packed.toString('utf8').trimEnd().split('\n').slice(0, 20), ...expected.slice(60)];
    const forms: readonly (readonly [string, Buffer, StoredLogFile['form']])[] = [
      ['plain lines', Buffer.from(plain), 'none'],
      ['packed rows', packed, 'none'],
      ['gzip', gzipSync(packed), 'gzip'],
      [
        'gzip, a member a line',
        Buffer.concat(
          packed
            .toString()
            .match(/.*\n/g)
            ?.map((line) => gzipSync(line)) ?? [],
        ),
        'gzip',
      ],
      ['zstd, a frame a batch', readFileSync(join(fixtures, 'packed.jsonl.zstd')), 'zstd'],
    ];
    for (const [what, bytes, form] of forms) {
      it(`${what}: the same events, byte for byte`, async () => {
        const reading = await readAll(stored(bytes, form));
        expect(reading.events.map((event) => JSON.stringify(event))).to.deep.equal(expected);
        expect(reading).to.deep.include({ eventCount: expected.length, condition: { kind: 'sound' } });
        expect(reading.turnEnds.map(({ turn }) => turn)).to.deep.equal([1, 2]);
        expect(reading.turnEnds.at(-1)).to.deep.include({ eventCount: expected.length, bytes: reading.goodBytes });
        expect((await readSessionFileHeader(stored(bytes, form))).id).to.equal('fixture');
      });
    }

    it('rows and plain lines in one file', async () => {
      const rows = packed.toString('utf8').trimEnd().split('\n');
      const half = rows.findIndex((line) => line.includes('"type":"turn/end"')) + 1;
      const first = (await readAll(stored(`${rows.slice(0, half).join('\n')}\n`))).eventCount;
      const text = [...rows.slice(0, half), ...expected.slice(first), ''].join('\n');
      expect((await readAll(stored(text))).events.map((event) => JSON.stringify(event))).to.deep.equal(expected);
      expect(mixed.length).to.be.greaterThan(20);
    });

    it('a log that passes the rules of sessions', async () => {
      const { fold, reading } = await foldFile(stored(packed), 'fixture');
      expect(reading.condition).to.deep.equal({ kind: 'sound' });
      expect(fold.lastTurn).to.equal(2);
    });
  });

  it('gives frozen events', async () => {
    const { events } = await readAll(stored(plain));
    expect(events.every((event) => Object.isFrozen(event) && Object.isFrozen(event.data))).to.equal(true);
  });

  it('reads lines that span slices, and leaves the event loop air', async () => {
    const events = turns(40, ['台🔥'.repeat(100_000)]);
    let ticks = 0;
    const timer = setInterval(() => {
      ticks += 1;
    }, 0);
    const reading = await readAll(stored(logText(events)));
    clearInterval(timer);
    expect(reading.events).to.deep.equal(events);
    expect(ticks).to.be.greaterThan(5);
  });

  describe('a defect', () => {
    const good = turnEvents({ turn: 1, seq: 0 });
    const next = good.length;
    const one = (fields: object): string =>
      JSON.stringify({ type: 'step/start', seq: next, time: 1, data: {}, ...fields });
    const row = {
      type: 'text-chunks',
      seq0: next,
      time0: 1,
      data: { turn: 1, step: 1, index: 0, dt: [], texts: ['x'] },
    };
    const defects: readonly (readonly [string, string | Buffer, RegExp])[] = [
      ['no JSON', '{"type"', /JSON/],
      ['no object', '1', /not a JSON object/],
      ['an empty line', '', /JSON/],
      ['a NUL block', '\0'.repeat(4_096), /JSON/],
      ['a NUL block before a line', `${'\0'.repeat(512)}${one({})}`, /JSON/],
      ['bytes that are no UTF-8', Buffer.from([0x22, 0xff, 0x22]), /not UTF-8/],
      ['a cut inside a character', Buffer.from(one({ data: { x: '台' } })).subarray(0, -5), /not UTF-8|JSON/],
      ['a missing seq', one({ seq: next + 1 }), new RegExp(`seq is ${next + 1}, expected ${next}`)],
      ['a duplicate seq', one({ seq: next - 1 }), new RegExp(`seq is ${next - 1}, expected ${next}`)],
      ['a seq that is no number', one({ seq: `${next}` }), /seq is "/],
      ['a bad time', one({ time: 1.5 }), /time must be/],
      ['an unknown member', one({ extra: 1 }), /"extra" is not a member/],
      ['a missing type', one({ type: undefined }), /type must be/],
      ['a bad mark', one({ ignorable: false }), /ignorable must be true/],
      ['bad data', one({}).replace('"data":{}', '"data":{"step":-0}'), /data\.step is -0/],
      ['data that is none', one({ data: [] }), /data must be an object/],
      ['a surface event without place', one({ type: 'user/message', data: { content: [] } }), /surfaceOp is mandatory/],
      ['a malformed row', JSON.stringify({ ...row, data: {} }), /malformed row/],
      ['a row with another seq', JSON.stringify({ ...row, seq0: next + 1 }), /seq is/],
      ['a cut line with another one glued to it', `{"type":"step/sta${one({})}`, /JSON/],
    ];
    for (const [what, line, problem] of defects) {
      const tail = Buffer.concat([Buffer.from(line), Buffer.from('\n')]);
      const after = Buffer.from(`${one({ seq: next + 1 })}\nmore garbage\n${one({ seq: next + 2 })}\nunfinished`);

      it(`${what}: after the last turn end it is torn (G1, G3)`, async () => {
        const file = stored(Buffer.concat([Buffer.from(logText(good)), tail, after]));
        const { events, eventCount, condition, goodBytes } = await readAll(file);
        expect(events).to.deep.equal(good);
        expect(eventCount).to.equal(next);
        expect(goodBytes).to.equal(Buffer.byteLength(logText(good)));
        expect(condition).to.deep.include({
          kind: 'torn',
          where: `${file.path}:${next + 2}`,
          droppedBytes: tail.length + after.length,
        });
        expect(condition).to.have.property('problem').that.matches(problem);
      });

      it(`${what}: before a turn end it is damage, and the prefix stays readable (G2, G3)`, async () => {
        const file = stored(Buffer.concat([Buffer.from(logText(good)), tail, Buffer.from(`${TURN}\n`), after]));
        const { events, condition } = await readAll(file);
        expect(events).to.deep.equal(good);
        expect(condition).to.deep.include({ kind: 'damaged', where: `${file.path}:${next + 2}` });
        expect(condition).to.have.property('problem').that.matches(problem);
      });
    }

    it('is no damage by a text that only speaks of a turn end', async () => {
      const quoted = one({ seq: next + 1, data: { text: TURN } });
      const cut = TURN.slice(0, -3);
      const { condition } = await readAll(stored(logText([...good, 'garbage', quoted, cut, '{"type":"turn/end"}'])));
      expect(condition.kind).to.equal('torn');
    });

    for (const [what, text] of [
      ['glued to a cut line', `{"type":"step/sta${TURN}\n`],
      ['behind a NUL block', `${'\0'.repeat(512)}${TURN}\n`],
      ['with a gap before it', `${TURN}\n`],
      ['without its newline', `garbage\n${TURN}`],
    ] as const) {
      it(`is damage by a turn end ${what}`, async () => {
        const { events, condition } = await readAll(stored(logText(good) + text));
        expect(events).to.deep.equal(good);
        expect(condition.kind).to.equal('damaged');
      });
    }

    it('is a cut last line, wherever it was cut; a whole one without newline, too (G1)', async () => {
      const last = Buffer.from(
        JSON.stringify(turnEvents({ turn: 2, seq: next })[2]).replace(/"seq":\d+/, `"seq":${next}`),
      );
      for (let length = 1; length <= last.length; length += 1) {
        const { events, condition } = await readAll(
          stored(Buffer.concat([Buffer.from(logText(good)), last.subarray(0, length)])),
        );
        expect(events).to.have.length(next);
        expect(condition).to.deep.include({ kind: 'torn', problem: 'the line is cut off', droppedBytes: length });
      }
    });

    it('is what the visitor refuses, with what it says', async () => {
      const refuse = ({ seq }: SessionEvent): void => {
        if (seq === 4) throw new Error('not this one');
      };
      const reading = await readAll(stored(logText(good)), refuse);
      expect(reading.events).to.deep.equal(good.slice(0, 4));
      expect(reading.condition).to.deep.include({ kind: 'damaged', problem: 'not this one' });
      const open = await readAll(stored(logText(good.slice(0, -1))), refuse);
      expect(open.condition).to.deep.include({ kind: 'torn', problem: 'not this one' });
      expect(open.eventCount).to.equal(4);
      expect(open.goodBytes).to.equal(Buffer.byteLength(logText(good.slice(0, 4))));
    });

    it('is damage when it is the turn end that the visitor refuses', async () => {
      const { condition } = await readAll(stored(logText(good)), ({ type }) => {
        if (type === 'turn/end') throw new Error('no end');
      });
      expect(condition).to.deep.include({ kind: 'damaged', problem: 'no end' });
    });

    it('inside a row is damage: the file has no place where the good events end', async () => {
      const wide = { ...row, seq0: 0, data: { ...row.data, dt: [0, 0], texts: ['a', 'b', 'c'] } };
      for (const [refused, kind] of [
        [0, 'torn'],
        [1, 'damaged'],
      ] as const) {
        const { condition } = await readAll(stored(logText([JSON.stringify(wide)])), ({ seq }) => {
          if (seq === refused) throw new Error('no');
        });
        expect(condition.kind).to.equal(kind);
      }
    });

    it('is a seed that is longer than the log, and always damage', async () => {
      const seeded = { ...SAMPLE_HEADER, seedLength: next };
      expect((await readAll(stored(logText(good, seeded)))).condition.kind).to.equal('sound');
      const { condition } = await readAll(stored(logText(good.slice(0, -1), seeded)));
      expect(condition.kind).to.equal('damaged');
      expect(condition)
        .to.have.property('problem')
        .that.matches(/inherited/);
      const cut = await readAll(stored(logText(good, seeded).slice(0, -1)));
      expect(cut.condition).to.deep.include({ kind: 'damaged', problem: 'the line is cut off' });
    });

    it('is not an unknown event: the log may come from a newer version', async () => {
      const file = stored(logText([...good, one({ type: 'x/y' })]));
      const failure = await rejectionOf(readSessionFile(file));
      expect(failure).to.have.property('code', 'SESSION_FORMAT_UNSUPPORTED');
      expect(failure.message).to.match(new RegExp(`${file.path}:${next + 2}: event type "x/y" is unknown`));
      const skippable = await readAll(stored(logText([...good, one({ type: 'x/y', ignorable: true })])));
      expect(skippable.events.at(-1)).to.deep.include({ type: 'x/y', ignorable: true });
    });
  });

  describe('of compressed bytes', () => {
    const zstd = readFileSync(join(fixtures, 'packed.jsonl.zstd'));
    const MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
    const frames: number[] = [];
    for (let at = zstd.indexOf(MAGIC); at >= 0; at = zstd.indexOf(MAGIC, at + 4)) frames.push(at);

    it('a torn last zstd frame gives its complete lines, wherever it was cut', async () => {
      const [from = 0] = frames.slice(-1);
      const before = (await readAll(stored(zstd.subarray(0, from), 'zstd'))).eventCount;
      for (let length = from + 1; length < zstd.length; length += 1) {
        const { events, condition } = await readAll(stored(zstd.subarray(0, length), 'zstd'));
        expect(condition.kind).to.equal('torn');
        expect(events.length).to.be.within(before, expected.length);
        expect(events.map((event) => JSON.stringify(event))).to.deep.equal(expected.slice(0, events.length));
      }
      // Only its checksum is missing.
      expect((await readAll(stored(zstd.subarray(0, -1), 'zstd'))).events).to.have.length(expected.length);
    });

    it('cuts between zstd frames leave sound logs, and a cut header none', async () => {
      for (const end of frames.slice(1)) {
        expect((await readAll(stored(zstd.subarray(0, end), 'zstd'))).condition.kind).to.equal('sound');
      }
      for (const end of [0, 3, 20, (frames[1] as number) - 5]) {
        const failure = await rejectionOf(readSessionFile(stored(zstd.subarray(0, end), 'zstd')));
        expect(failure).to.have.property('code', 'SESSION_CORRUPT');
      }
    });

    it('blocks that were never written end a zstd log, garbage damages it', async () => {
      for (const [tail, kind] of [
        [Buffer.alloc(5_000), 'torn'],
        [Buffer.concat([Buffer.alloc(5_000), zstd.subarray(frames[1])]), 'damaged'],
        [Buffer.from('garbage'), 'damaged'],
      ] as const) {
        const { events, condition } = await readAll(stored(Buffer.concat([zstd, tail]), 'zstd'));
        expect(events).to.have.length(expected.length);
        expect(condition.kind).to.equal(kind);
      }
    });

    it('a zstd frame that cannot be decoded is damage, and hides nothing before it', async () => {
      for (const frame of frames.slice(1)) {
        const broken = Buffer.from(zstd);
        broken[frame] = 0;
        const prefix = await readAll(stored(zstd.subarray(0, frame), 'zstd'));
        const { events, condition } = await readAll(stored(broken, 'zstd'));
        expect(events).to.deep.equal(prefix.events);
        expect(condition).to.deep.include({
          kind: 'damaged',
          problem: `zstd frame at byte ${frame}: none begins there`,
        });
      }
    });

    it('a wrong checksum is damage in any zstd frame, and hides nothing before it', async () => {
      for (const [index, frame] of frames.entries()) {
        if (index === 0) continue;
        const broken = Buffer.from(zstd);
        const end = (frames[index + 1] ?? zstd.length) - 1;
        broken.writeUInt8(broken.readUInt8(end) ^ 1, end);
        const prefix = await readAll(stored(zstd.subarray(0, frame), 'zstd'));
        const { events, condition } = await readAll(stored(broken, 'zstd'));
        expect(events).to.deep.equal(prefix.events);
        expect(condition.kind).to.equal('damaged');
        expect(condition)
          .to.have.property('problem')
          .that.matches(/checksum/);
      }
    });

    it('a cut gzip log gives its complete lines, wherever it was cut', async () => {
      const gzip = gzipSync(readFileSync(join(fixtures, 'packed.jsonl')));
      const lengths = Array.from({ length: gzip.length - 200 }, (_, at) => at + 200);
      for (const length of lengths.filter((one) => one % 97 === 0 || one > gzip.length - 12)) {
        const { events, condition } = await readAll(stored(gzip.subarray(0, length), 'gzip'));
        expect(condition.kind).to.equal('torn');
        expect(events.map((event) => JSON.stringify(event))).to.deep.equal(expected.slice(0, events.length));
      }
    });

    it('a gzip member that is wrong is damage, and hides nothing before it', async () => {
      const lines = plain.match(/.*\n/g) ?? [];
      const whole = Buffer.concat(lines.slice(0, -1).map((line) => gzipSync(line)));
      const last = gzipSync(lines.at(-1) ?? '');
      for (const [at, problem] of [
        [0, 'none begins there'],
        [last.length - 6, 'its checksum is wrong'],
        [10, 'invalid block type'],
      ] as const) {
        const wrong = Buffer.from(last);
        wrong.writeUInt8(at === 10 ? 0xff : wrong.readUInt8(at) ^ 1, at);
        const { events, condition } = await readAll(stored(Buffer.concat([whole, wrong]), 'gzip'));
        expect(events.map((event) => JSON.stringify(event))).to.deep.equal(expected.slice(0, -1));
        expect(condition).to.deep.include({
          kind: 'damaged',
          problem: `gzip member at byte ${whole.length}: ${problem}`,
        });
      }
    });

    it('gzip members may say more of themselves', async () => {
      const [header = Buffer.alloc(0), ...rest] = (plain.match(/.*\n/g) ?? []).map((line) => gzipSync(line));
      const flags = 2 + 4 + 8 + 16;
      const extras = Buffer.concat([Buffer.from([3, 0, 1, 2, 3]), Buffer.from('name\0comment\0'), Buffer.from([0, 0])]);
      const wordy = Buffer.concat([header.subarray(0, 10), extras, header.subarray(10)]);
      wordy.writeUInt8(flags, 3);
      const { eventCount, condition } = await readAll(stored(Buffer.concat([wordy, ...rest]), 'gzip'));
      expect(condition).to.deep.equal({ kind: 'sound' });
      expect(eventCount).to.equal(expected.length);
    });
  });

  it('leaves no file open, however it ends', async () => {
    const open = (): number => readdirSync('/proc/self/fd').length;
    const before = open();
    const zstd = readFileSync(join(fixtures, 'packed.jsonl.zstd'));
    const files: readonly (readonly [string | Buffer, StoredLogFile['form']])[] = [
      [plain, 'none'],
      ['garbage\n', 'none'],
      [gzipSync(plain), 'gzip'],
      [zstd, 'zstd'],
      [zstd.subarray(0, -5), 'zstd'],
      [Buffer.concat([zstd, Buffer.from('garbage')]), 'zstd'],
    ];
    for (const [bytes, form] of files) {
      await readSessionFile(stored(bytes, form)).catch(() => undefined);
      await readSessionFileHeader(stored(bytes, form)).catch(() => undefined);
    }
    expect(open()).to.equal(before);
  });

  it('says when a file cannot be read', async () => {
    mkdirSync(join(dir.path, 'directory'));
    const failure = await rejectionOf(readSessionFile({ path: join(dir.path, 'directory'), form: 'none' }));
    expect(failure).to.have.property('code', 'STORE_FAILED');
    expect(failure.message).to.contain(`${join(dir.path, 'directory')} cannot be read`);
  });
});
