import { CodedError, isObject } from '../base/index.js';
import type { Patch, PatchOperation } from './patch.js';
import type { Row } from './profile.js';
import { RowHistory } from './row-history.js';

type Config = Readonly<Record<string, unknown>>;
type Change = Extract<PatchOperation, { readonly merge?: Config }>;

/** Rows being put together from layers, and what became of each layer. */
export class RowList {
  #rows: Row[] = [];
  readonly #history = new Map<string, RowHistory>();
  readonly #warnings: string[] = [];

  get rows(): readonly Row[] {
    return this.#rows;
  }
  get history(): ReadonlyMap<string, RowHistory> {
    return this.#history;
  }
  get warnings(): readonly string[] {
    return this.#warnings;
  }

  /**
   * Adds rows of one origin.
   *
   * @param at default: at the end
   * @throws CodedError `INVALID_PROFILE` an id is taken
   */
  add(rows: readonly Row[], origin: string, at = this.#rows.length): void {
    for (const { id } of rows) {
      const known = this.#history.get(id);
      if (known !== undefined) {
        const whose = known.origin === origin ? 'twice' : `although ${known.origin} has one`;
        throw new CodedError(
          'INVALID_PROFILE',
          `${origin}: another row has the same id: ${JSON.stringify(id)} is there ${whose}`,
        );
      }
      this.#history.set(id, new RowHistory(origin));
    }
    this.#rows.splice(at, 0, ...rows);
  }

  /** Applies a patch in order. What finds no row to change is passed over, with a warning. Throws as {@link add}. */
  apply({ label, operations }: Patch): void {
    operations.forEach((operation, index) => {
      const problem = 'insert' in operation ? this.#insert(operation, label) : this.#alter(operation, label);
      if (problem !== undefined) this.#warnings.push(`${label}: operation ${index + 1} is skipped: ${problem}`);
    });
  }

  #insert(
    { insert, before, after }: Extract<PatchOperation, { readonly insert: unknown }>,
    label: string,
  ): string | undefined {
    const anchor = before ?? after;
    if (anchor === undefined) {
      this.add(insert, label);
      return undefined;
    }
    const at = this.#indexOf(anchor);
    if (at < 0) return absent(anchor);
    this.add(insert, label, before === undefined ? at + 1 : at);
    return undefined;
  }

  #alter(operation: Exclude<PatchOperation, { readonly insert: unknown }>, label: string): string | undefined {
    const { id, module } = operation;
    const at = this.#indexOf(id);
    const row = this.#rows[at];
    if (row === undefined) return absent(id);
    if (module !== undefined && module !== row.module) {
      return `row ${JSON.stringify(id)} has the module ${JSON.stringify(row.module)}, not ${JSON.stringify(module)}`;
    }
    if ('remove' in operation) {
      this.#rows.splice(at, 1);
      this.#history.delete(id);
    } else {
      this.#rows[at] = this.#changed(row, operation, label);
    }
    return undefined;
  }

  #changed(row: Row, { id, module: _, merge, ...fields }: Change, label: string): Row {
    const history = this.#history.get(id);
    for (const field of Object.keys(fields)) history?.note(field, label);
    const changed = { ...row, ...fields };
    if (merge === undefined) return changed;
    return { ...changed, config: merged(changed.config ?? {}, merge, 'config', (path) => history?.note(path, label)) };
  }

  #indexOf(id: string): number {
    return this.#rows.findIndex((row) => row.id === id);
  }
}

/** Mappings by key, all else replaced. */
function merged(base: Config, change: Config, path: string, note: (path: string) => void): Config {
  const values = new Map(Object.entries(base));
  for (const [key, value] of Object.entries(change)) {
    const at = `${path}.${key}`;
    const before = values.get(key);
    if (isObject(value) && isObject(before)) {
      values.set(key, merged(before, value, at, note));
    } else {
      values.set(key, value);
      note(at);
    }
  }
  return Object.fromEntries(values);
}

function absent(id: string): string {
  return `there is no row ${JSON.stringify(id)}`;
}
