import { randomUUID } from 'node:crypto';
import { inject, injectable } from 'inversify';
import { killMarked } from '../../base/index.js';
import { CurrentScope, type Scope } from '../../kernel/index.js';

const VARIABLE = 'DSH_SHELL_MARKER';

/**
 * A variable that everything started by this runtime's shells inherits: what left its shell's process session, as
 * daemons do, is found by it and killed when the runtime closes. Runtime scope.
 */
@injectable()
export class ShellMarker {
  readonly #value = randomUUID();
  #given = false;

  constructor(@inject(CurrentScope) scope: Scope) {
    scope.defer('processes of the shells', () => (this.#given ? killMarked(`${VARIABLE}=${this.#value}`) : undefined));
  }

  /** The variable, for the environment of a shell. */
  get environment(): Record<string, string> {
    this.#given = true;
    return { [VARIABLE]: this.#value };
  }
}
