import { describeError } from '../base/index.js';
import type { Scope } from '../kernel/index.js';
import type { ComposedRow } from '../profile/index.js';
import { Assembly, type AssemblyParts, BootError, labelOf } from './assembly.js';

/**
 * The rows without the optional ones that fail: each trial assembles and starts what is left, on a channel of its own,
 * and is closed again. A runtime without optional rows needs no trial.
 *
 * @throws BootError a row failed that is not optional
 */
export async function withoutFailingOptional(
  parts: Omit<AssemblyParts, 'provide'>,
  provide: (scope: Scope) => void,
): Promise<readonly ComposedRow[]> {
  let rows = parts.rows;
  while (rows.some(({ row }) => row.optional === true)) {
    const trial = new Assembly({ ...parts, rows, provide });
    try {
      await trial.start();
      return rows;
    } catch (thrown) {
      const failed = optionalIn(thrown, rows);
      if (failed.size === 0) throw thrown;
      const left = [...failed].join(', ');
      parts.logger.warn(`an optional part is left out: ${left}: ${describeError(thrown)}`);
      rows = rows.filter(({ row }) => !failed.has(labelOf(row.id)));
    } finally {
      await trial.scope.close();
    }
  }
  return rows;
}

/** Labels of the optional rows to blame; none when some problem is not theirs. */
function optionalIn(thrown: unknown, rows: readonly ComposedRow[]): ReadonlySet<string> {
  if (!(thrown instanceof BootError)) return new Set();
  const optional = new Set(rows.flatMap(({ row }) => (row.optional === true ? [labelOf(row.id)] : [])));
  const failed = thrown.problems.map(({ rows: blamed }) => blamed.filter((label) => optional.has(label)));
  return failed.every((labels) => labels.length > 0) ? new Set(failed.flat()) : new Set();
}
