import { readFileSync } from 'node:fs';

/** One line of the report. */
export interface Figure {
  readonly what: string;
  readonly median: number;
  readonly best: number;
  readonly unit: 'µs' | 'ms' | 'MB' | 'events/s' | 's CPU';
  /** What we aim for, as text; empty when it is only told. */
  readonly target: string;
}

export function figure(what: string, values: readonly number[], unit: Figure['unit'], target = ''): Figure {
  const sorted = [...values].sort((a, b) => a - b);
  const best = unit === 'events/s' ? sorted.at(-1) : sorted[0];
  return { what, median: sorted[sorted.length >> 1] ?? Number.NaN, best: best ?? Number.NaN, unit, target };
}

/** Milliseconds that `run` takes. */
export async function timed(run: () => Promise<unknown>): Promise<number> {
  const from = process.hrtime.bigint();
  await run();
  return Number(process.hrtime.bigint() - from) / 1e6;
}

/** `run` several times, `warmUp` of them not counted. */
export async function repeat<T>(times: number, run: (index: number) => Promise<T>, warmUp = 1): Promise<T[]> {
  const results: T[] = [];
  for (let index = -warmUp; index < times; index += 1) {
    const result = await run(index);
    if (index >= 0) results.push(result);
  }
  return results;
}

/** Peak resident memory of a process, MB (Linux). */
export function peakMemory(pid: number): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

/** User and system time of a process so far, seconds (Linux, 100 ticks a second). */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** A table of the same figures under several versions: median, and in brackets the best. */
export function report(columns: ReadonlyMap<string, readonly Figure[]>): string {
  const digits = (value: number, unit: Figure['unit']): string =>
    unit === 'events/s' ? Math.round(value).toLocaleString('en') : value.toFixed(value < 10 ? 2 : 1);
  const all = [...columns.values()];
  const rows = (all[0] ?? []).map(({ what, unit, target }, row) => {
    const cells = all.map((figures) => {
      const { median, best } = figures[row] ?? { median: Number.NaN, best: Number.NaN };
      return median === best ? digits(median, unit) : `${digits(median, unit)} (${digits(best, unit)})`;
    });
    return `| ${[what, unit, ...cells, target].join(' | ')} |`;
  });
  const head = ['what', 'unit', ...columns.keys(), 'target'];
  return [`| ${head.join(' | ')} |`, `|${'---|'.repeat(head.length)}`, ...rows].join('\n');
}
