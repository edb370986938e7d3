import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect } from 'chai';
import { array, assert, asyncProperty, string } from 'fast-check';
import { sessionPersistenceModule } from '../../../src/session/files/session-persistence.module.js';
import type { SessionHeader } from '../../../src/session/index.js';
import { fileRepository } from '../../support/file-logs.js';
import { readLog } from '../../support/read-log.js';
import { rejectionOf } from '../../support/rejection-of.js';
import { runs } from '../../support/runs.js';
import { human, SessionWorld, tick } from '../../support/session-world.js';
import { useTempDir } from '../../support/temp-dir.js';

const HEADER: SessionHeader = { type: 'session', version: 0, id: 's', createdAt: 1, cwd: '/ws', delegationDepth: 0 };
const event = (seq: number): string => `{"type":"step/start","seq":${seq},"time":1,"data":{"turn":1,"step":1}}`;

const over = fileRepository;

function entries(root: string): string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' }).sort();
}

describe('FileSessionRepository', () => {
  const dir = useTempDir();

  function storeText(text: string | Buffer, file = '--ws--/s/session.jsonl'): string {
    const path = join(dir.path, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  describe('layout', () => {
    it('makes root, directories and file on the first append, for their owner only, and leaves no other file', async () => {
      const root = join(dir.path, 'deep', 'root');
      const world = await SessionWorld.over({ repository: over(root) });
      const session = await world.store.open({ id: '../x:1', cwd: '/srv/my app' });
      expect(entries(dir.path)).to.deep.equal([]);
      tick(session);
      session.save();
      const project = '--srv-my~0020app--';
      const name = '..~002Fx~003A1';
      expect(session.location).to.equal(join(root, project, name, 'session.jsonl'));
      const files = ['session.jsonl', 'session.lease'].map((file) => join(project, name, file));
      expect(entries(root)).to.deep.equal([project, join(project, name), ...files]);
      const modes = [join(dir.path, 'deep'), root, join(root, project), join(root, project, name)].map(modeOf);
      expect(modes).to.deep.equal([0o700, 0o700, 0o700, 0o700]);
      for (const file of files) expect(modeOf(join(root, file))).to.equal(0o600);
      await world.scope.close();
      expect(entries(root)).to.have.length(3);
    });

    it('writes exactly the text of the wire after the header', async () => {
      await assert(
        asyncProperty(array(string({ unit: 'binary' }), { maxLength: 8 }), async (texts) => {
          const wire: string[] = [];
          const repository = over(join(dir.path, `${Math.random()}`));
          const listeners = [{ sessionEvent: (_: unknown, __: unknown, json: string) => void wire.push(json) }];
          const world = await SessionWorld.over({ repository, listeners });
          const session = await world.create();
          tick(session);
          for (const text of texts) {
            session.append('user/message', human(`${text}\ud800`), { surfaceOp: 'append' });
            if (text.length % 2 === 0) session.save();
          }
          await session.close();
          const text = readFileSync(session.location ?? '', 'utf8');
          expect(text).to.equal([JSON.stringify(session.header), ...wire, ''].join('\n'));
          expect((await readLog(repository, 's')).events.map((one) => JSON.stringify(one))).to.deep.equal(wire);
        }),
        runs(20),
      );
    });

    it('resolves a relative root', async () => {
      const repository = over(relative(process.cwd(), dir.path));
      expect((await repository.create(HEADER)).location).to.equal(join(dir.path, '--ws--', 's', 'session.jsonl'));
    });

    it('puts sessions without a workspace aside', async () => {
      const { cwd: _, ...header } = HEADER;
      expect((await over(dir.path).create(header)).location).to.equal(join(dir.path, '_no-cwd', 's', 'session.jsonl'));
    });

    it('takes a compressed log of the id, and not an empty directory, for a stored session', async () => {
      mkdirSync(join(dir.path, '--ws--', 's'), { recursive: true });
      await over(dir.path).create(HEADER);
      storeText('x', '--other--/s/session.jsonl.zstd');
      expect(await rejectionOf(over(dir.path).create(HEADER))).to.have.property('code', 'SESSION_STORED');
    });
  });

  describe('a root that cannot be used', () => {
    it('is refused at the start and on every call when it is a file', async () => {
      const root = storeText('', 'file');
      const repository = over(root);
      for (const call of [() => repository.start(), () => repository.create(HEADER), () => readLog(repository, 's')]) {
        const failure = await rejectionOf(call());
        expect(failure).to.have.property('code', 'STORE_FAILED');
        expect(failure.message).to.equal(`session root ${root} is not a directory`);
      }
    });

    it('fails the first append when it became a file meanwhile, and recovers', async () => {
      const root = join(dir.path, 'root');
      const log = await over(root).create(HEADER);
      writeFileSync(root, '');
      expect(() => log.append([{ seq: 0, json: event(0) }])).to.throw(root);
      await over(join(dir.path, 'other')).start();
      await log.close();
    });

    it('fails the first append when it is read-only, unless the rights of root ignore that', async () => {
      if (process.getuid?.() === 0) {
        // Root may write everywhere: the same refusal comes from a file in the way.
        writeFileSync(join(dir.path, '--ws--'), '');
      } else {
        chmodSync(dir.path, 0o500);
      }
      const log = await over(dir.path).create(HEADER);
      expect(() => log.append([{ seq: 0, json: event(0) }])).to.throw(/EACCES|ENOTDIR|EEXIST/);
      chmodSync(dir.path, 0o700);
      await log.close();
    });

    it('need not exist yet', async () => {
      const repository = over(join(dir.path, 'none'));
      await repository.start();
      expect(await repository.find('s')).to.equal(undefined);
      expect(entries(dir.path)).to.deep.equal([]);
    });
  });

  describe('reading', () => {
    const header = JSON.stringify(HEADER);
    const log = (...lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

    it('leaves out an unterminated last line, wherever it was cut', async () => {
      const whole = log(header, event(0));
      const cut = Buffer.from('{"type":"session/title","seq":1,"time":1,"data":{"title":"台"}}');
      for (const length of [0, 1, 20, cut.length - 3, cut.length]) {
        storeText(Buffer.concat([Buffer.from(whole), cut.subarray(0, length)]));
        expect((await readLog(over(dir.path), 's')).events).to.have.length(1);
      }
    });

    it('reads a header longer than a read, and every header field', async () => {
      const full: SessionHeader = {
        ...HEADER,
        cwd: `/${'y'.repeat(10_000)}`,
        parentSession: 'p',
        seedLength: 3,
        origin: 'subagent',
        delegationDepth: 2,
        agentPreset: 'a',
      };
      storeText(log(JSON.stringify(full), event(0)));
      expect(await over(dir.path).find('s')).to.deep.equal(full);
      expect((await readLog(over(dir.path), 's')).header).to.deep.equal(full);
    });

    it('finds a session whose events are damaged', async () => {
      storeText(log(header, 'garbage'));
      expect(await over(dir.path).find('s')).to.deep.equal(HEADER);
    });

    it('gives frozen events, and accepts unknown ones that may be skipped', async () => {
      storeText(log(header, '{"type":"x/y","seq":0,"time":1,"data":{},"ignorable":true}', event(1)));
      const { events } = await readLog(over(dir.path), 's');
      expect(events).to.have.length(2);
      expect(events.every((one) => Object.isFrozen(one) && Object.isFrozen(one.data))).to.equal(true);
    });

    it('refuses an id that is stored twice, naming both files', async () => {
      const one = storeText(log(header), '--a--/s/session.jsonl');
      const two = storeText(log(header), '--b--/s/session.jsonl');
      const failure = await rejectionOf(readLog(over(dir.path), 's'));
      expect(failure).to.have.property('code', 'SESSION_CORRUPT');
      expect(failure.message).to.contain(one).and.to.contain(two);
    });

    const head = (fields: object): string => JSON.stringify({ ...HEADER, ...fields });
    const damaged: readonly (readonly [string, string | Buffer, number, RegExp, string?])[] = [
      ['an empty file', '', 1, /missing or incomplete/],
      ['an unterminated header', header, 1, /missing or incomplete/],
      ['a header that is no JSON', log('nope'), 1, /JSON/],
      ['a header that is no object', log('[]'), 1, /not a JSON object/],
      ['a first line that is no header', log(event(0)), 1, /not a session header/],
      [
        'a newer format',
        log(head({ version: 3 })),
        1,
        /format 3 is not supported: upgrade/,
        'SESSION_FORMAT_UNSUPPORTED',
      ],
      ['an older format', log(head({ version: -1 })), 1, /format -1 is not supported$/, 'SESSION_FORMAT_UNSUPPORTED'],
      ['another session', log(head({ id: 't' })), 1, /names session "t", not "s"/],
      ['an id that is no string', log(head({ id: 5 })), 1, /id must be/],
      ['a missing depth', log(head({ delegationDepth: undefined })), 1, /delegationDepth/],
      ['a negative zero', log(header.replace('"createdAt":1', '"createdAt":-0')), 1, /createdAt/],
      ['a negative zero in an unknown field', log(header.replace('{', '{"x":-0,')), 1, /header\.x is -0/],
      ['a relative cwd', log(head({ cwd: 'ws' })), 1, /cwd must be an absolute path/],
      ['a bad parent', log(head({ parentSession: 1 })), 1, /parentSession/],
      ['a bad seed', log(head({ seedLength: -1 })), 1, /seedLength/],
      ['a bad origin', log(head({ origin: 'x' })), 1, /origin/],
      ['a bad preset', log(head({ agentPreset: 1 })), 1, /agentPreset/],
      ['a retired field', log(head({ sandboxMode: 'x' })), 1, /sandboxMode is a retired/],
      ['a header that is no UTF-8', Buffer.from([0x22, 0xff, 0x22, 0x0a]), 1, /UTF-8/],
      [
        'an unknown type',
        log(header, event(0).replace('step/start', 'x/y')),
        2,
        /"x\/y" is unknown/,
        'SESSION_FORMAT_UNSUPPORTED',
      ],
    ];
    for (const [name, text, line, problem, code = 'SESSION_CORRUPT'] of damaged) {
      it(`refuses ${name}, naming file and line`, async () => {
        const path = storeText(text);
        const failure = await rejectionOf(readLog(over(dir.path), 's'));
        expect(failure).to.have.property('code', code);
        expect(failure.message).to.contain(`${path}:${line}: `).and.to.match(problem);
      });
    }
  });

  describe('config', () => {
    const refused: readonly (readonly [object, RegExp])[] = [
      [{}, /root/],
      [{ root: '' }, /root/],
      [{ root: 5 }, /root/],
      [{ root: 'x', durability: 'paper' }, /durability/],
      [{ root: 'x', compression: 'lzma' }, /compression/],
      [{ root: 'x', packChunks: 'yes' }, /packChunks/],
    ];
    for (const [config, problem] of refused) {
      it(`refuses ${JSON.stringify(config)}`, async () => {
        const failure = await rejectionOf(sessionPersistenceModule.configure(config));
        expect(failure).to.have.property('code', 'INVALID_CONFIG');
        expect(failure.message).to.match(problem);
      });
    }

    it('takes zstd where this Node can write it, and else says what is needed (decision 41)', async () => {
      const configured = sessionPersistenceModule.configure({ root: 'x', compression: 'zstd' });
      if ('zstdCompress' in process.getBuiltinModule('node:zlib')) await configured;
      else {
        const failure = await rejectionOf(configured);
        expect(failure).to.have.property('code', 'INVALID_CONFIG');
        expect(failure.message).to.contain('compression zstd needs Node 22.15 or later to be written');
      }
      await sessionPersistenceModule.configure({ root: 'x', compression: 'gzip', packChunks: false });
    });

    it('has defaults for all but the root', async () => {
      const { runtime, session } = await sessionPersistenceModule.configure({ root: dir.path });
      expect(runtime).to.not.equal(undefined);
      expect(session).to.equal(undefined);
    });
  });
});

function modeOf(path: string): number {
  return statSync(path).mode & 0o777;
}
