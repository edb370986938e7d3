/** Replaces whole texts, as paths are: not inside a longer name. */
export class TextMap {
  readonly #by: ReadonlyMap<string, string>;
  readonly #pattern: RegExp | undefined;

  /** Pairs of a text and what replaces it; the longest that fits counts. */
  constructor(pairs: Iterable<readonly [string, string]>) {
    this.#by = new Map([...pairs].filter(([from, to]) => from !== '' && from !== to));
    const keys = [...this.#by.keys()].sort((a, b) => b.length - a.length).map(escapePattern);
    this.#pattern = keys.length === 0 ? undefined : new RegExp(`(?<![\\w.~-])(?:${keys.join('|')})(?![\\w-])`, 'g');
  }

  apply(text: string): string {
    if (this.#pattern === undefined) return text;
    return text.replace(this.#pattern, (from) => this.#by.get(from) ?? from);
  }

  /** As {@link apply}, on a text that comes in pieces: a replacement stands in the piece where its match begins. */
  applyAcross(pieces: readonly string[]): readonly string[] {
    if (this.#pattern === undefined) return pieces;
    const text = pieces.join('');
    const matches = [...text.matchAll(this.#pattern)].map(({ 0: from, index }) => ({
      start: index,
      end: index + from.length,
      growth: (this.#by.get(from) ?? from).length - from.length,
    }));
    /** Where the offset `at` of the text comes to stand. */
    const moved = (at: number): number =>
      matches
        .filter(({ start }) => start < at)
        .reduce((to, { end, growth }) => to + growth + Math.max(0, end - at), at);
    const mapped = this.apply(text);
    let at = 0;
    return pieces.map((piece) => {
      const from = at;
      at += piece.length;
      return mapped.slice(moved(from), moved(at));
    });
  }
}

function escapePattern(text: string): string {
  return text.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&');
}
