import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { isEvent, type SessionEvent } from '../../src/protocol/index.js';
import { Lab } from '../support/lab.js';
import { dsh } from '../support/run-dsh.js';
import { TWO_TURNS } from '../support/stored-log.js';

/** What the model said and the tools answered, without what differs from run to run. */
function course(events: readonly SessionEvent[]): unknown[] {
  return events.flatMap<unknown>((event) => {
    if (isEvent(event, 'assistant/chunk')) return [event.data.chunk];
    return isEvent(event, 'tool/result') ? [event.data.message.content] : [];
  });
}

describe('a recorded session', () => {
  const labs: Lab[] = [];
  afterEach(() => Promise.all(labs.splice(0).map((lab) => lab.close())));
  async function openLab(): Promise<Lab> {
    const lab = await Lab.open();
    labs.push(lab);
    return lab;
  }

  it('plays its calls, retries and tools again in another workspace', async () => {
    const lab = await openLab();
    const session = lab.harness({ provider: 'offline', model: `replay:${TWO_TURNS}` }).session();
    const first = await session.run('Write /workspace/a.txt and show it.');
    expect(first.error).to.equal(undefined);
    expect(first.finalResponse).to.equal('It holds one line.');
    expect(await readFile(join(lab.cwd, 'a.txt'), 'utf8')).to.equal('one\n');
    expect(first.events.filter(({ type }) => type === 'llm/retry')).to.have.length(1);
    expect((await session.run('What time is it?')).finalResponse).to.equal('Late.');
    const third = await session.run('Again?');
    expect(third.error).to.have.property('code', 'REPLAY_EXHAUSTED');
    expect(lab.server.requests).to.deep.equal([]);
  });

  it('is the log of any session, that of a replay too', async () => {
    const recording = await openLab();
    recording.server.answer(
      { reasoning: 'look', toolCalls: [{ name: 'bash', arguments: { command: `cd ${recording.cwd}; pwd` } }] },
      { text: 'Here we are.', chunkSize: 3 },
    );
    const prompt = 'Where are we?';
    const original = await recording.harness().run(prompt);
    expect(original.finalResponse).to.equal('Here we are.');
    let [log = ''] = await recording.logs();
    for (let generation = 1; generation <= 2; generation += 1) {
      const lab = await openLab();
      const tape = join(lab.home, 'tape.jsonl');
      await copyFile(log, tape);
      const harness = lab.harness({ provider: 'offline', model: `replay:${tape}` });
      const replayed = await harness.run(prompt);
      expect(replayed.error, `generation ${generation}`).to.equal(undefined);
      const local = JSON.stringify(course(replayed.events)).replaceAll(lab.cwd, recording.cwd);
      expect(JSON.parse(local)).to.deep.equal(course(original.events));
      [log = ''] = await lab.logs();
    }
  });

  it('is named by DSH_OFFLINE_REPLAY, and told from what is asked', async () => {
    const lab = await openLab();
    const args = ['run', '--provider', 'offline', '--model', 'replay', '--cwd', lab.cwd, 'Write nothing.'];
    const { code, stdout, stderr } = await dsh(args, { ...lab.env, DSH_OFFLINE_REPLAY: TWO_TURNS });
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
    expect(stderr).to.contain('(REPLAY_MISMATCH)').and.to.contain('the user message is "Write nothing."');
  });
});
