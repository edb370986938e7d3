import { once } from 'node:events';
import { type ExitCode, type SessionsCall, targetOf } from './call.js';

/** `dsh sessions export`: header and good events as plain lines; what is wrong after them is told on stderr. */
export async function exportLog(call: SessionsCall): Promise<ExitCode> {
  const { stdout, stderr } = call.output;
  const { condition } = await call.archive.exportEvents(await targetOf(call), async (lines) => {
    if (!stdout.write(`${lines.join('\n')}\n`)) await once(stdout, 'drain');
  });
  if (condition.kind === 'sound') return 0;
  stderr.write(
    `dsh: the log is ${condition.kind}, what follows is left out: ${condition.where}: ${condition.problem}\n`,
  );
  return condition.kind === 'torn' ? 0 : 1;
}
