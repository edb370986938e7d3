import { describeError } from '../../base/index.js';
import type { SessionReport, SessionTarget } from '../../session/index.js';
import { sizeText, textTable } from '../text-table.js';
import { document, type ExitCode, nameOf, type SessionsCall, targetsOf } from './call.js';
import { holderText } from './list.js';

/** What came of one log. */
interface Verdict {
  readonly name: string;
  readonly report: SessionReport | undefined;
  readonly problem: string | undefined;
}

/** `dsh sessions verify`: reads logs whole, all of them by default. @returns 1 when one has a problem */
export async function verify(call: SessionsCall): Promise<ExitCode> {
  const verdicts: Verdict[] = [];
  const targets = await targetsOf(call);
  for (const target of targets) verdicts.push(await judge(call, target, nameOf(target)));
  if (targets.length === 0) {
    for (const { path, header, problem } of await call.archive.list()) {
      const name = header?.id ?? path;
      verdicts.push(
        problem === undefined ? await judge(call, { file: path }, name) : { name, report: undefined, problem },
      );
    }
  }
  const problems = verdicts.filter(({ problem }) => problem !== undefined).length;
  const { stdout } = call.output;
  stdout.write(call.options.json ? document({ sessions: verdicts.map(plain), problems }) : text(verdicts));
  return problems === 0 ? 0 : 1;
}

/** What is wrong with a log and for whom: one that is being written may end anywhere. */
export function problemOf({ condition, holder, openTurn }: SessionReport): string | undefined {
  if (condition.kind === 'damaged') return `damaged, ${condition.where}: ${condition.problem}`;
  if (holder !== undefined) return undefined;
  if (condition.kind === 'torn') {
    return `torn, ${condition.where}: ${condition.problem} (${condition.droppedBytes} bytes are lost)`;
  }
  return openTurn === undefined ? undefined : `turn ${openTurn} was not closed`;
}

async function judge({ archive }: SessionsCall, target: SessionTarget, name: string): Promise<Verdict> {
  try {
    const report = await archive.verify(target);
    return { name, report, problem: problemOf(report) };
  } catch (thrown) {
    return { name, report: undefined, problem: describeError(thrown) };
  }
}

function plain({ name, report, problem }: Verdict): object {
  if (report === undefined) return { id: name, ok: false, problem };
  const { header, ...rest } = report;
  return { id: header.id, ok: problem === undefined, problem, ...rest };
}

function text(verdicts: readonly Verdict[]): string {
  if (verdicts.length === 0) return 'no sessions\n';
  const rows = verdicts.map(({ name, report, problem }) => [
    name,
    String(report?.eventCount ?? '?'),
    String(report?.turns ?? '?'),
    report === undefined ? '?' : sizeText(report.bytes),
    problem ?? (report?.holder === undefined ? 'sound' : holderText(report.holder)),
  ]);
  return textTable(['SESSION', 'EVENTS', 'TURNS', 'SIZE', 'CONDITION'], rows);
}
