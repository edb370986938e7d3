import { injectable } from 'inversify';
import type { AgentRoute } from '../agent/index.js';
import type { InitializeResult } from '../protocol/index.js';

/** What an `initialize` pinned for every session that this server creates. */
export interface Pinned {
  /** Absolute. */
  readonly cwd: string;
  readonly route: AgentRoute;
  readonly result: InitializeResult;
}

/** Where the conversation stands: new, initialized once, closing. */
@injectable()
export class ServerState {
  #pinned: Pinned | undefined;
  #initializing: Promise<unknown> | undefined;
  #closing = false;

  /** Settles when no `initialize` is in flight; undefined when none is. Never rejects. */
  get settled(): Promise<unknown> | undefined {
    return this.#initializing;
  }

  /** Undefined until an `initialize` has succeeded; never changes after that. */
  get pinned(): Pinned | undefined {
    return this.#pinned;
  }

  /** Runs `work` as the one `initialize` in flight; only its success pins anything. */
  async initialize(work: () => Promise<Pinned>): Promise<Pinned> {
    const running = work();
    this.#initializing = running.catch(() => undefined);
    try {
      this.#pinned = await running;
      return this.#pinned;
    } finally {
      this.#initializing = undefined;
    }
  }

  /** Refuses everything from now on. */
  close(): void {
    this.#closing = true;
  }

  /** @throws Error `SDK server is shutting down` */
  assertOpen(): void {
    if (this.#closing) throw new Error('SDK server is shutting down');
  }

  /** @throws Error `SDK server is shutting down`, `SDK server is not initialized` */
  require(): Pinned {
    this.assertOpen();
    if (this.#pinned === undefined) throw new Error('SDK server is not initialized');
    return this.#pinned;
  }
}
