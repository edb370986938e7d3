import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { assert, asyncProperty, nat } from 'fast-check';
import type { SessionEvent } from '../../src/protocol/index.js';
import type { Session, SessionRepository } from '../../src/session/index.js';
import { foldLog } from '../../src/session/session-fold.js';
import { fileRepository } from '../support/file-logs.js';
import { readLog } from '../support/read-log.js';
import { rejectionOf } from '../support/rejection-of.js';
import { runs } from '../support/runs.js';
import { anyMoves, ScriptPlayer } from '../support/session-script.js';
import { SessionWorld, stateOf, tick } from '../support/session-world.js';
import { useTempDir } from '../support/temp-dir.js';

describe('sessions in files', () => {
  const dir = useTempDir();
  const path = (): string => join(dir.path, '--ws--', 's', 'session.jsonl');

  /** Another process, as far as the store can tell. */
  const world = (): Promise<SessionWorld<SessionRepository>> =>
    SessionWorld.over({ repository: fileRepository(dir.path) });

  /** Opens the session and closes it again; gives what stands in the log then. */
  async function visited(use: (session: Session) => void = () => undefined): Promise<readonly SessionEvent[]> {
    const here = await world();
    const session = await here.create();
    use(session);
    await here.scope.close();
    const { events, condition } = await readLog(here.repository, 's');
    expect(condition).to.deep.equal({ kind: 'sound' });
    expect(stateOf(session)).to.deep.equal(stateOf(foldLog(events)));
    return events;
  }

  it('are whole again after a cut at any byte: a prefix, closed once, that goes on', async () => {
    await assert(
      asyncProperty(anyMoves, nat(), async (moves, at) => {
        rmSync(join(dir.path, '--ws--'), { recursive: true, force: true });
        const here = await world();
        const session = await here.create();
        tick(session);
        new ScriptPlayer(session).playAll(moves);
        session.save();
        const text = readFileSync(path());
        await session.close({ asIs: true });
        const whole = (await readLog(here.repository, 's')).events;
        const start = text.indexOf('\n') + 1;
        writeFileSync(path(), text.subarray(0, start + (at % (text.length - start + 1))));

        const repaired = await visited();
        const kept = repaired.findIndex((event, seq) => JSON.stringify(event) !== JSON.stringify(whole[seq]));
        const prefix = repaired.slice(0, kept < 0 ? repaired.length : kept);
        expect(repaired.slice(prefix.length).map(({ type }) => type)).to.satisfy((added: readonly string[]) =>
          /^(tool\/result,)*(step\/end,)?(turn\/end)?$/.test(added.join()),
        );
        expect(foldLog(repaired).openTurn).to.equal(undefined);
        expect(await visited()).to.deep.equal(repaired);
        const turn = foldLog(repaired).lastTurn + 1;
        const more = await visited((resumed) => void resumed.append('turn/start', { turn }));
        expect(more.slice(0, repaired.length)).to.deep.equal(repaired);
        expect(more).to.have.length(repaired.length + 1);
      }),
      runs(25),
    );
  });

  it('have one writer at a time, which the other is told of', async () => {
    const [one, other] = [await world(), await world()];
    const session = await one.create();
    tick(session);
    session.save();
    const refused = await rejectionOf(other.create());
    expect(refused).to.have.property('code', 'SESSION_LEASED');
    expect(refused).to.have.nested.property('holder.pid', process.pid);
    await session.close();
    expect((await other.create()).resumed).to.equal(true);
    await other.scope.close();
  });
});
