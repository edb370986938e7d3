import { expect } from 'chai';
import { problemOf } from '../../src/cli/sessions/verify.js';
import type { SessionReport } from '../../src/session/index.js';

const torn = { kind: 'torn', where: 'log:9', problem: 'cut', droppedBytes: 3 } as const;
const damaged = { kind: 'damaged', where: 'log:9', problem: 'bad' } as const;
const holder = { pid: 1, host: 'h', startedAt: 0, heartbeatAt: 0 };

describe('the problem of a log', () => {
  const cases: readonly [string, Partial<SessionReport>, string | undefined][] = [
    ['none in a sound one', {}, undefined],
    ['a torn end', { condition: torn }, 'torn, log:9: cut (3 bytes are lost)'],
    ['no end of one that is being written', { condition: torn, holder }, undefined],
    ['a turn that nobody closes', { openTurn: 4 }, 'turn 4 was not closed'],
    ['no turn that is going on', { openTurn: 4, holder }, undefined],
    ['a defect, whoever writes', { condition: damaged, holder }, 'damaged, log:9: bad'],
  ];
  for (const [what, facts, problem] of cases) {
    it(`is ${what}`, () => {
      const sound = { condition: { kind: 'sound' }, holder: undefined, openTurn: undefined };
      expect(problemOf({ ...sound, ...facts } as SessionReport)).to.equal(problem);
    });
  }
});
