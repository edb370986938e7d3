import type { RowHistory } from './row-history.js';

/** One part of a profile: a module and its config, before interpolation. */
export interface Row {
  /** Unique in the profile; an interface that patches name. */
  readonly id: string;
  /** A shipped module's name, a path (`./`, `../`, absolute) or an npm package. */
  readonly module: string;
  readonly config?: Readonly<Record<string, unknown>>;
  /** Default: false. */
  readonly disabled?: boolean;
  /** When it cannot be loaded, the runtime starts without it and warns. Default: false, the boot fails. */
  readonly optional?: boolean;
  /** Absolute path of the file that names `module`, where paths and packages are looked up from. Default: the process's directory. */
  readonly from?: string;
}

/** An ordered list of rows: what a runtime is made of. Order is binding order is contribution order. */
export interface Profile {
  readonly name: string;
  readonly description?: string;
  readonly rows: readonly Row[];
  /** Where each row and value is from, by row id; absent for a profile that was made in code. */
  readonly history?: ReadonlyMap<string, RowHistory>;
  /** What was passed over while it was put together, a line each. */
  readonly warnings?: readonly string[];
}
