import { injectable } from 'inversify';
import { killProcessSession } from './process-session.js';

/**
 * The shells of the runtime that have processes. Those left when the process exits without closing its scopes, as after
 * a second signal, are killed then. Runtime scope.
 */
@injectable()
export class LiveShells {
  readonly #leaders = new Set<number>();
  readonly #killAll = (): void => {
    for (const leader of this.#leaders) killProcessSession(leader);
  };

  /** @param leader of a process session */
  add(leader: number): void {
    if (this.#leaders.size === 0) process.once('exit', this.#killAll);
    this.#leaders.add(leader);
  }

  /** To be called when the session is gone: the process id may be somebody else's soon. Idempotent. */
  delete(leader: number): void {
    if (this.#leaders.delete(leader) && this.#leaders.size === 0) process.off('exit', this.#killAll);
  }
}
