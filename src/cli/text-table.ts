/**
 * Columns for people: each as wide as its widest cell, two spaces apart. Characters that would move the cursor or colour
 * the terminal are shown as their code points: ids and titles come from anywhere.
 */
export function textTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows.map((row) => row.map(harmless))];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => width(line[column] ?? ''))));
  return lines
    .map(
      (line) =>
        `${line
          .map((cell, column) => pad(cell, widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

/** Names and their values, a pair a line; without a value the pair is left out. Harmless as {@link textTable}. */
export function textFacts(pairs: readonly (readonly [name: string, value: string | undefined])[]): string {
  const given = pairs.flatMap(([name, value]) => (value === undefined ? [] : [[name, harmless(value)] as const]));
  const widest = Math.max(...given.map(([name]) => width(name)));
  return given.map(([name, value]) => `${pad(name, widest)}  ${value}\n`).join('');
}

/** Bytes as people say them: `0 B`, `1.5 KiB`, `20 MiB`. */
export function sizeText(bytes: number): string {
  const unit = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const size = bytes / 1024 ** unit;
  return `${unit > 0 && size < 10 ? size.toFixed(1) : Math.round(size)} ${UNITS[unit]}`;
}

/** A point in time, in UTC, to the second. */
export function timeText(epochMs: number): string {
  const time = new Date(epochMs);
  return Number.isNaN(time.getTime()) ? '?' : `${time.toISOString().slice(0, 19)}Z`;
}

/** An amount of money, to four digits that say something: `0.000123 USD`. */
export function moneyText({ amount, currency }: { readonly amount: number; readonly currency: string }): string {
  const digits = amount >= 1 ? 2 : Math.min(12, 3 - Math.floor(Math.log10(Math.max(amount, 1e-9))));
  return `${amount.toFixed(amount === 0 ? 0 : digits)} ${currency}`;
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

function harmless(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`);
}

function width(text: string): number {
  return Array.from(text).length;
}

function pad(cell: string, to: number): string {
  return cell + ' '.repeat(to - width(cell));
}
