import { execFile } from 'node:child_process';
import { appendFile, mkdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { builtBin } from '../support/lab.js';
import { RawRuntime } from '../support/raw-runtime.js';
import { dsh, type Ran } from '../support/run-dsh.js';
import { storeLog, TWO_TURNS } from '../support/stored-log.js';
import { useTempDir } from '../support/temp-dir.js';

const EVENTS = 67;
const PRICES =
  '- {provider: deepseek-official, model: deepseek-v4-flash, currency: USD, perMillion: {input: 1, output: 10}}\n';

describe('dsh sessions', () => {
  const dir = useTempDir();
  let root: string;
  beforeEach(() => {
    root = join(dir.path, 'home', 'sessions');
  });

  function sessions(...args: readonly string[]): Promise<Ran> {
    return dsh(['sessions', ...args], { DSH_HOME: join(dir.path, 'home') });
  }
  /** The only JSON document of a command that went well. */
  async function json(...args: readonly string[]) {
    const { code, stdout, stderr } = await sessions(...args, '--json');
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    return JSON.parse(stdout);
  }
  async function rows(...args: readonly string[]): Promise<string[][]> {
    const { code, stdout, stderr } = await sessions(...args);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    return stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/));
  }

  describe('usage', () => {
    const known = 'list, show, verify, export, repair, compact, fork, delete, gc';
    const wrong: readonly [string[], string][] = [
      [[], `a command is required: ${known}`],
      [['--json'], `a command is required: ${known}`],
      [['lst'], `unknown command "lst": ${known}`],
      [['toString'], `unknown command "toString": ${known}`],
      [['list', '--wat'], "Unknown option '--wat'"],
      [['list', 'x'], 'dsh sessions list takes no SESSION'],
      [['list', '--turn', '1'], "Unknown option '--turn'"],
      [['list', '--root', ''], '--root must not be empty'],
      [['show'], 'dsh sessions show needs a SESSION, or --file PATH'],
      [['show', 'a', 'b'], 'dsh sessions show takes one SESSION'],
      [['show', 'a', '--file', 'x'], '--file takes the place of a SESSION'],
      [['show', 'a', '--file', ''], '--file must not be empty'],
      [['show', '--prices'], "Option '--prices <value>' argument missing"],
      [['export'], 'dsh sessions export needs a SESSION, or --file PATH'],
      [['repair'], 'dsh sessions repair needs a SESSION, or --file PATH'],
      [['compact', 'a', '--compression', 'xz'], '--compression must be one of none, gzip, zstd, not "xz"'],
      [['fork', 'a', '--turn', 'last'], '--turn must be a count, not "last"'],
      [['fork', 'a', '--turn', '-1'], "Option '--turn' argument is ambiguous."],
      [['delete'], 'dsh sessions delete needs a SESSION, or --file PATH'],
      [['gc'], 'dsh sessions gc needs --older-than, --keep or --max-size'],
      [['gc', '--dry-run'], 'dsh sessions gc needs --older-than, --keep or --max-size'],
      [['gc', 'a', '--keep', '1'], 'dsh sessions gc takes no SESSION'],
      [['gc', '--keep', '1.5'], '--keep must be a count, not "1.5"'],
      [
        ['gc', '--older-than', '30'],
        '--older-than must be a number of seconds, minutes, hours or days, as 30d, not "30"',
      ],
      [
        ['gc', '--older-than', '1y'],
        '--older-than must be a number of seconds, minutes, hours or days, as 30d, not "1y"',
      ],
      [['gc', '--max-size', '1X'], '--max-size must be a size in bytes, or in K, M, G or T, as 1G, not "1X"'],
    ];
    for (const [args, message] of wrong) {
      it(`refuses ${JSON.stringify(args.join(' '))} with exit 1 and an empty stdout`, async () => {
        const { code, stdout, stderr } = await sessions(...args);
        expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
        expect(stderr.split('\n')[0]).to.equal(`dsh: ${message}`);
        expect(stderr).to.match(/\nTry dsh sessions --help\.\n$/);
      });
    }

    it('helps on stdout, after a command as well', async () => {
      const help = await sessions('--help');
      expect(help).to.deep.include({ code: 0, stderr: '' });
      for (const name of known.split(', ')) expect(help.stdout).to.contain(`\n  ${name} `);
      expect(await sessions('gc', '-h')).to.deep.equal(help);
    });

    it('exits 1 for what is no fault of the command line', async () => {
      const missing = await sessions('show', 'nobody');
      expect(missing).to.deep.equal({ code: 1, stdout: '', stderr: 'dsh: session "nobody" is not stored\n' });
      const file = await sessions('export', '--file', join(dir.path, 'none.jsonl'));
      const stderr = `dsh: there is no session log ${join(dir.path, 'none.jsonl')}\n`;
      expect(file).to.deep.equal({ code: 1, stdout: '', stderr });
      const profile = await sessions('list', '--profile', 'nope');
      expect(profile).to.deep.include({ code: 1, stdout: '' });
      expect(profile.stderr).to.contain('there is no profile "nope"');
    });
  });

  describe('list', () => {
    it('says so when there is none, and makes nothing', async () => {
      expect(await sessions('list')).to.deep.equal({ code: 0, stdout: 'no sessions\n', stderr: '' });
      expect(await sessions('list', '--json')).to.deep.equal({ code: 0, stdout: '', stderr: '' });
    });

    it('shows all, the one changed last first; a bad log never hides the others', async () => {
      for (const [index, id] of ['old', 'bad', 'new'].entries()) {
        const path = await storeLog(root, id, (lines) => (id === 'bad' ? ['{"type":"nothing"}'] : lines));
        await utimes(path, 1_000 + index, 1_000 + index);
      }
      const table = await rows('list');
      expect(table[0]).to.deep.equal(['SESSION', 'CHANGED', 'SIZE', 'WORKSPACE', 'STATE']);
      expect(table[1]).to.deep.equal(['new', '1970-01-01T00:16:42Z', '11 KiB', '/workspace']);
      expect(table[2]?.slice(0, 2)).to.deep.equal(['?', '1970-01-01T00:16:41Z']);
      expect(table[2]?.at(-1)).to.match(/^damaged: .*bad\/session\.jsonl:1: the first line is not a session header$/);
      expect(table[3]?.[0]).to.equal('old');

      const { stdout } = await sessions('list', '--json');
      const lines = stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(lines.map(({ id }) => id)).to.deep.equal(['new', undefined, 'old']);
      expect(lines[0]).to.deep.include({ cwd: '/workspace', createdAt: 1760000000000, modifiedAt: 1_002_000 });
      expect(lines[1].problem).to.contain('not a session header');
    });

    it('cannot be made to steer a terminal by what is in a log', async () => {
      await storeLog(root, 'evil', ([header = '', ...rest]) => [
        header.replace('/workspace', '/\\u001b[31m\\u202e\\nx'),
        ...rest,
      ]);
      const { stdout } = await sessions('list');
      expect(stdout).to.contain('/\\u{1b}[31m\\u{202e}\\u{a}x');
      for (const sign of ['\u001b', '\u202e']) expect(stdout).not.to.contain(sign);
    });

    it('looks where it is told to', async () => {
      await storeLog(join(dir.path, 'elsewhere'), 'there');
      expect((await rows('list', '--root', join(dir.path, 'elsewhere')))[1]?.[0]).to.equal('there');
      expect((await rows('list', '--profile', 'sdk-minimal'))[0]).to.deep.equal(['no sessions']);
      await writeFile(join(dir.path, 'file'), '');
      const { code, stderr } = await sessions('list', '--root', join(dir.path, 'file'));
      expect(code).to.equal(1);
      expect(stderr).to.contain(`dsh: session root ${join(dir.path, 'file')} is not a directory`);
    });
  });

  describe('show', () => {
    it('tells what a session did, and what it cost where a price is known', async () => {
      const path = await storeLog(root, 'one');
      const { stdout } = await sessions('show', 'one');
      expect(stdout).to.equal(`session    one
title      Write /workspace/a.txt and show it.
workspace  /workspace
created    2025-10-09T08:53:20Z
log        ${path} (11 KiB)
condition  sound
events     67
tokens     300 + 60 cached in, 38 out (5 reasoning)

TURN  STARTED               SECONDS  STEPS  TOOLS  END
1     2025-10-09T08:53:20Z  0.0      2      1      completed
2     2025-10-09T08:53:20Z  0.0      2      1      completed

PROVIDER           MODEL              CALLS  TOKENS                                    COST
deepseek-official  deepseek-v4-flash  5      300 + 60 cached in, 38 out (5 reasoning)  -
`);
      const prices = join(dir.path, 'prices.yml');
      await writeFile(prices, PRICES);
      const priced = await sessions('show', 'one', '--prices', prices);
      expect(priced.stdout).to.contain('\ncost       0.0007400 USD\n');
      const told = await json('show', 'one', '--prices', prices);
      expect(told.cost[0].amount).to.be.closeTo(0.00074, 1e-12);
      expect(told).to.deep.include({
        title: 'Write /workspace/a.txt and show it.',
        eventCount: EVENTS,
        inheritedEvents: 0,
        condition: { kind: 'sound' },
        usage: { inputTokens: 300, outputTokens: 38, cacheReadTokens: 60, reasoningTokens: 5 },
      });
      expect(told.turns[1]).to.deep.equal({
        turn: 2,
        startedAt: 1760000000045,
        endedAt: 1760000000066,
        steps: 2,
        toolCalls: 1,
        reason: { kind: 'completed' },
      });
      expect(await json('show', 'one')).not.to.have.property('cost');
    });

    it('does not count what a fork inherited (E4)', async () => {
      await storeLog(root, 'one');
      await sessions('fork', 'one', '--id', 'two', '--turn', '1');
      const told = await json('show', 'two');
      expect(told).to.deep.include({ inheritedEvents: 44, usage: { inputTokens: 0, outputTokens: 0 }, models: [] });
      expect(told.turns).to.have.length(1);
      expect(told.turns[0].inherited).to.equal(true);
      const { stdout } = await sessions('show', 'two');
      expect(stdout).to.contain('events     45, the first 44 inherited').and.to.contain('completed (inherited)');
      expect(stdout).to.contain('parent     one');
    });

    it('shows the good part of a damaged log, and what is wrong', async () => {
      const path = await storeLog(root, 'one', (lines) => lines.map((line, at) => (at === 30 ? 'garbage' : line)));
      const told = await json('show', 'one');
      expect(told.problem).to.contain(`damaged, ${path}:31: `);
      expect(told.turns).to.have.length(1);
      expect(told.eventCount).to.be.lessThan(EVENTS);
    });

    it('takes a log anywhere: by file of any form, or by its directory', async () => {
      const gz = join(dir.path, 'there', 'session.jsonl.gz');
      await mkdir(dirname(gz));
      await writeFile(gz, gzipSync(await readFile(TWO_TURNS)));
      for (const file of [TWO_TURNS, gz, dirname(gz)]) {
        const told = await json('show', '--file', file);
        expect([told.header.id, told.eventCount]).to.deep.equal(['recorded', EVENTS]);
      }
    });

    it('names the file when the prices are no good', async () => {
      await storeLog(root, 'one');
      const bad = join(dir.path, 'bad.yml');
      await writeFile(bad, `${PRICES}${PRICES}`);
      const { code, stdout, stderr } = await sessions('show', 'one', '--prices', bad);
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
      expect(stderr).to.equal(
        `dsh: the prices ${bad} cannot be used: prices: prices[1]: provider "deepseek-official", model "deepseek-v4-flash" has a price already\n`,
      );
      expect((await sessions('show', 'one', '--prices', join(dir.path, 'no.yml'))).stderr).to.contain('ENOENT');
    });
  });

  describe('verify', () => {
    it('reads all logs whole and exits 1 when one has a problem (G2, G3)', async () => {
      await storeLog(root, 'sound');
      expect((await rows('verify'))[1]).to.deep.equal(['sound', '67', '2', '11 KiB', 'sound']);
      expect(await json('verify')).to.deep.include({ problems: 0 });

      await storeLog(root, 'gap', (lines) => lines.filter((_, at) => at !== 20));
      await storeLog(root, 'header', (lines) => lines.slice(1));
      const torn = await storeLog(root, 'torn');
      await appendFile(torn, '{"type":"turn/st');
      await storeLog(root, 'open', (lines) => lines.slice(0, 20));
      const { code, stdout } = await sessions('verify');
      expect(code).to.equal(1);
      expect(stdout).to.match(/^sound +67 /m);
      expect(stdout).to.match(/^gap .* damaged, .*gap\/session\.jsonl:21: /m);
      expect(stdout).to.match(/^torn .* torn, .*:63: .*\(16 bytes are lost\)$/m);
      expect(stdout).to.match(/^open .* turn 1 was not closed$/m);
      expect(stdout).to.match(/header\/session\.jsonl +\? +\? +\? +.*not a session header$/m);
      const told = JSON.parse((await sessions('verify', '--json')).stdout);
      expect(told.problems).to.equal(4);
      expect(told.sessions.filter(({ ok }: { ok: boolean }) => ok)).to.have.length(1);
    });

    it('reads the ones that are named', async () => {
      await storeLog(root, 'one');
      await storeLog(root, 'two', (lines) => lines.filter((_, at) => at !== 20));
      expect((await sessions('verify', 'one')).code).to.equal(0);
      const both = await sessions('verify', 'two', 'one', 'three');
      expect(both.code).to.equal(1);
      expect(both.stdout).to.contain('session "three" is not stored');
      expect((await sessions('verify', '--file', TWO_TURNS)).code).to.equal(0);
    });
  });

  describe('export', () => {
    it('gives plain lines that are a log again, whatever the form was', async () => {
      await storeLog(root, 'one');
      await sessions('compact', 'one', '--compression', 'gzip');
      const { code, stdout, stderr } = await sessions('export', 'one');
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      const lines = stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(lines.map(({ seq }) => seq)).to.deep.equal([undefined, ...Array(EVENTS).keys()]);
      const file = join(dir.path, 'exported.jsonl');
      await writeFile(file, stdout);
      expect((await json('verify', '--file', file)).sessions[0]).to.deep.include({ eventCount: EVENTS, ok: true });
    });

    it('tells on stderr where the good part ends', async () => {
      const torn = await storeLog(root, 'torn');
      await appendFile(torn, '{"ty');
      const ran = await sessions('export', 'torn');
      expect(ran.code).to.equal(0);
      expect(ran.stdout.trimEnd().split('\n')).to.have.length(EVENTS + 1);
      expect(ran.stderr).to.match(/^dsh: the log is torn, what follows is left out: .*:63: /);
      await storeLog(root, 'gap', (lines) => lines.filter((_, at) => at !== 20));
      expect((await sessions('export', 'gap')).code).to.equal(1);
    });

    it('ends quietly when its reader goes', async () => {
      await storeLog(root, 'long', (lines) => [...lines.slice(0, 2), ...manyEvents(20_000), ...lines.slice(99)]);
      const args = [builtBin, 'sessions', 'export', 'long', '--root', root];
      const child = execFile(process.execPath, args, { env: {} });
      let stderr = '';
      child.stderr?.on('data', (text) => {
        stderr += text;
      });
      child.stdout?.once('data', () => child.stdout?.destroy());
      const code = await new Promise((resolve) => child.once('close', resolve));
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    });
  });

  describe('repair', () => {
    it('leaves a sound log alone', async () => {
      const path = await storeLog(root, 'one');
      const before = await readFile(path, 'utf8');
      expect(await rows('repair', 'one')).to.deep.equal([['nothing to repair']]);
      expect(await readFile(path, 'utf8')).to.equal(before);
    });

    it('cuts a torn end off and closes the open turn', async () => {
      const path = await storeLog(root, 'one', (lines) => [...lines.slice(0, 20), '{"type":']);
      const [cut, closed] = await rows('repair', 'one');
      expect(cut?.[0]).to.match(/^cut off at .*:21: /);
      expect(closed).to.deep.equal(['closed the open turn with 2 events']);
      expect((await sessions('verify', 'one')).code).to.equal(0);
      expect((await readFile(path, 'utf8')).trimEnd().split('\n').at(-1)).to.contain('"kind":"interrupted"');
    });

    it('gives up what follows a defect only when told to, and keeps the original', async () => {
      const path = await storeLog(root, 'one', (lines) => lines.filter((_, at) => at !== 20));
      const damaged = await readFile(path, 'utf8');
      const refused = await sessions('repair', 'one');
      expect(refused).to.deep.include({ code: 1, stdout: '' });
      expect(refused.stderr).to.contain('is damaged').and.to.contain('"dsh sessions repair one --drop-damage"');
      expect(await readFile(path, 'utf8')).to.equal(damaged);
      const { copy, condition } = await json('repair', 'one', '--drop-damage');
      expect(condition.kind).to.equal('damaged');
      expect(await readFile(copy, 'utf8')).to.equal(damaged);
      expect((await sessions('verify', 'one')).code).to.equal(0);
    });
  });

  describe('compact', () => {
    it('packs, and stores in the form that it is told', async () => {
      const path = await storeLog(root, 'one', (lines) => lines);
      const zipped = await json('compact', 'one', '--compression', 'gzip');
      expect(zipped.path).to.equal(`${path}.gz`);
      expect(zipped.bytesAfter).to.be.lessThan(zipped.bytesBefore);
      expect(gunzipSync(await readFile(`${path}.gz`)).toString()).to.contain('"type":"text-chunks"');
      // What it is stored in stays what it is stored in.
      expect((await json('compact', 'one')).path).to.equal(`${path}.gz`);
      expect((await rows('compact', 'one', '--compression', 'none'))[0]?.[0]).to.match(
        /session\.jsonl: .* -> \d+ KiB$/,
      );
      expect((await sessions('verify', 'one')).code).to.equal(0);
    });
  });

  describe('fork', () => {
    it('prints the id of a session with the closed turns of another', async () => {
      await storeLog(root, 'one');
      expect(await rows('fork', 'one', '--id', 'two')).to.deep.equal([['two']]);
      const { stdout } = await sessions('fork', 'one', '--turn', '1');
      expect(stdout).to.match(/^[0-9a-f-]{36}\n$/);
      expect((await json('show', stdout.trim())).turns).to.have.length(1);
      expect(await json('fork', 'one', '--id', 'none', '--turn', '0')).to.deep.include({
        id: 'none',
        parentSession: 'one',
        turn: 0,
      });
      const copied = await json('fork', '--file', TWO_TURNS, '--id', 'copied');
      expect(copied.path).to.equal(join(root, '--workspace--', 'copied', 'session.jsonl'));
    });

    it('refuses a turn that is not closed and an id that is taken', async () => {
      await storeLog(root, 'one');
      expect((await sessions('fork', 'one', '--turn', '3')).stderr).to.equal(
        'dsh: turn 3 of session "one" is not closed: the last one that is, is 2\n',
      );
      expect((await sessions('fork', 'one', '--id', 'one')).stderr).to.equal('dsh: session "one" is stored already\n');
    });
  });

  describe('delete', () => {
    it('deletes what it can and tells what it cannot', async () => {
      await storeLog(root, 'one');
      await storeLog(root, 'two');
      await storeLog(root, 'three');
      const ran = await sessions('delete', 'one', 'nobody', 'two', '--json');
      expect(ran.code).to.equal(1);
      expect(ran.stderr).to.equal('dsh: session "nobody" is not stored\n');
      expect(JSON.parse(ran.stdout)).to.deep.equal({ deleted: ['one', 'two'] });
      expect((await rows('list')).map(([id]) => id)).to.deep.equal(['SESSION', 'three']);
      expect(await sessions('delete', 'three')).to.deep.equal({ code: 0, stdout: '', stderr: '' });
    });
  });

  describe('gc', () => {
    const DAY = 86_400;
    beforeEach(async () => {
      const now = Date.now() / 1000;
      for (const [index, id] of ['today', 'week', 'month', 'year'].entries()) {
        const age = [0, 7, 31, 365][index] ?? 0;
        await utimes(await storeLog(root, id), now - age * DAY, now - age * DAY);
      }
    });
    const ids = async (): Promise<string[]> => (await rows('list')).slice(1).map(([id = '']) => id);

    it('deletes what is old', async () => {
      expect((await sessions('gc', '--older-than', '30d')).stdout).to.match(/\ndeleted 2, 2\d KiB\n$/);
      expect(await ids()).to.deep.equal(['today', 'week']);
    });

    it('keeps the newest', async () => {
      const { deleted, dryRun } = await json('gc', '--keep', '3');
      expect([deleted.map(({ id }: { id: string }) => id), dryRun]).to.deep.equal([['year'], false]);
      expect(await ids()).to.deep.equal(['today', 'week', 'month']);
    });

    it('keeps to a size', async () => {
      await sessions('gc', '--max-size', '12K');
      expect(await ids()).to.deep.equal(['today']);
    });

    it('deletes nothing in a dry run', async () => {
      const { stdout } = await sessions('gc', '--keep', '0', '--dry-run');
      expect(stdout).to.match(/\nwould delete 4, 4\d KiB\n$/);
      expect(await ids()).to.have.length(4);
    });
  });

  describe('on a session in use', () => {
    let runtime: RawRuntime;
    afterEach(() => runtime.kill());

    it('reads, and refuses to write, naming the holder', async () => {
      const env = { PATH: process.env.PATH ?? '', DSH_HOME: join(dir.path, 'home') };
      runtime = RawRuntime.spawn([builtBin, '--profile', 'sdk-minimal'], env);
      await runtime.request('initialize', { cwd: dir.path, provider: 'offline', model: 'demo' });
      await runtime.request('session/prompt', { sessionId: 'live', contentBlocks: [{ type: 'text', text: 'x' }] });
      await runtime.frame(({ params }) => params?.sessionId === 'live' && params.status === 'idle');

      const held = `in use by process ${runtime.child.pid} on `;
      expect((await rows('list'))[1]?.[4]).to.contain(held);
      expect((await rows('verify'))[1]?.[4]).to.contain(held);
      expect(await json('show', 'live')).to.have.nested.property('holder.pid', runtime.child.pid);
      for (const args of [
        ['repair', 'live'],
        ['compact', 'live'],
        ['delete', 'live'],
      ]) {
        const { code, stderr } = await sessions(...args);
        expect(code, args[0]).to.equal(1);
        expect(stderr, args[0]).to.contain(`session "live" is ${held}`);
      }
      expect(await json('gc', '--keep', '0')).to.deep.include({ deleted: [] });
      expect((await sessions('fork', 'live', '--id', 'copy')).code).to.equal(0);
    });
  });

  /** Events that fill pipes. */
  function manyEvents(count: number): string[] {
    const title = 'x'.repeat(100);
    return Array.from({ length: count }, (_, index) =>
      JSON.stringify({
        type: 'session/title',
        seq: index + 1,
        time: 1,
        data: { title, messageSeqs: [], source: { kind: 'user' } },
      }),
    );
  }
});
