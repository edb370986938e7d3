/** Where a row and the values in it are from. Labels are names of shipped profiles and absolute paths of files. */
export class RowHistory {
  readonly #patchedBy = new Set<string>();
  /** By key path as `a.b`; of its ancestors the nearest counts. */
  readonly #sources = new Map<string, string>();

  /** @param origin who made the row */
  constructor(readonly origin: string) {}

  /** Who changed it, in order. */
  get patchedBy(): readonly string[] {
    return [...this.#patchedBy];
  }

  /** `label` set the value at `path`, and all in it. */
  note(path: string, label: string): void {
    this.#patchedBy.add(label);
    for (const known of this.#sources.keys()) if (known.startsWith(`${path}.`)) this.#sources.delete(known);
    this.#sources.set(path, label);
  }

  /** Who set the value at this path, as `config.retry.maxRetries`. */
  sourceOf(path: string): string {
    for (let at = path; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('.')))) {
      const source = this.#sources.get(at);
      if (source !== undefined) return source;
    }
    return this.origin;
  }
}
