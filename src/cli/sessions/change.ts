import { describeError } from '../../base/index.js';
import { LOG_FORMS } from '../../session/index.js';
import { sizeText } from '../text-table.js';
import { UsageError } from '../usage.js';
import { parseCount, parseDuration, parseSize } from './amounts.js';
import { document, type ExitCode, nameOf, type SessionsCall, targetOf, targetsOf } from './call.js';
import { plainEntry, text } from './list.js';
import { configuredCompression } from './session-row.js';

/**
 * `dsh sessions repair`.
 *
 * @throws CodedError `SESSION_DAMAGED` events would be lost, which was not asked for
 */
export async function repair(call: SessionsCall): Promise<ExitCode> {
  const { archive, options, output } = call;
  const target = await targetOf(call);
  const { condition, copy, closers } = await archive.repair(target, { dropDamage: options['drop-damage'] });
  const done = [
    condition.kind === 'sound' ? undefined : `cut off at ${condition.where}: ${condition.problem}`,
    copy === undefined ? undefined : `kept the original as ${copy}`,
    closers === 0 ? undefined : `closed the open turn with ${closers} events`,
  ].filter((line) => line !== undefined);
  const told = done.length === 0 ? ['nothing to repair'] : done;
  output.stdout.write(options.json ? document({ condition, copy, closers }) : `${told.join('\n')}\n`);
  return 0;
}

/** `dsh sessions compact`. */
export async function compact(call: SessionsCall): Promise<ExitCode> {
  const { archive, options, output, profile } = call;
  const asked = options.compression ?? configuredCompression(profile);
  const form = LOG_FORMS.find((known) => known === asked);
  if (form === undefined && asked !== undefined) {
    throw new UsageError(`--compression must be one of ${LOG_FORMS.join(', ')}, not ${JSON.stringify(asked)}`);
  }
  const { path, bytesBefore, bytesAfter } = await archive.compact(await targetOf(call), form);
  const told = `${path}: ${sizeText(bytesBefore)} -> ${sizeText(bytesAfter)}\n`;
  output.stdout.write(options.json ? document({ path, bytesBefore, bytesAfter }) : told);
  return 0;
}

/** `dsh sessions fork`: prints the new id. */
export async function fork(call: SessionsCall): Promise<ExitCode> {
  const { archive, options, output } = call;
  const turn = options.turn === undefined ? undefined : parseCount('--turn', options.turn);
  const { header, path, turn: last } = await archive.fork(await targetOf(call), { turn, id: options.id });
  const { id, parentSession } = header;
  output.stdout.write(options.json ? document({ id, parentSession, turn: last, path }) : `${id}\n`);
  return 0;
}

/** `dsh sessions delete`: one that cannot be deleted does not keep the others. @returns 1 when there is one */
export async function remove(call: SessionsCall): Promise<ExitCode> {
  const { archive, options, output } = call;
  const targets = await targetsOf(call);
  if (targets.length === 0) throw new UsageError('dsh sessions delete needs a SESSION, or --file PATH');
  const deleted: string[] = [];
  for (const target of targets) {
    try {
      await archive.delete(target);
      deleted.push(nameOf(target));
    } catch (thrown) {
      output.stderr.write(`dsh: ${describeError(thrown)}\n`);
    }
  }
  if (options.json) output.stdout.write(document({ deleted }));
  return deleted.length === targets.length ? 0 : 1;
}

/** `dsh sessions gc`. @throws UsageError nothing says what may go: by default everything is kept (decision 42) */
export async function gc({ archive, options, output, ids }: SessionsCall): Promise<ExitCode> {
  if (ids.length > 0) throw new UsageError('dsh sessions gc takes no SESSION');
  const { 'older-than': olderThan, keep, 'max-size': maxSize, 'dry-run': dryRun = false } = options;
  if (olderThan === undefined && keep === undefined && maxSize === undefined) {
    throw new UsageError('dsh sessions gc needs --older-than, --keep or --max-size');
  }
  const deleted = await archive.gc({
    olderThanMs: olderThan === undefined ? undefined : parseDuration('--older-than', olderThan),
    keep: keep === undefined ? undefined : parseCount('--keep', keep),
    maxBytes: maxSize === undefined ? undefined : parseSize('--max-size', maxSize),
    dryRun,
  });
  const bytes = deleted.reduce((sum, entry) => sum + entry.bytes, 0);
  const told = `${deleted.length === 0 ? '' : text(deleted)}${dryRun ? 'would delete' : 'deleted'} ${deleted.length}, ${sizeText(bytes)}\n`;
  output.stdout.write(options.json ? document({ dryRun, bytes, deleted: deleted.map(plainEntry) }) : told);
  return 0;
}
