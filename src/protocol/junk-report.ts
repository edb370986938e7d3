import { headOf } from '../base/index.js';
import type { TransportDiagnostic } from './transport.js';

const SAMPLE_CHARS = 120;

/**
 * Counts the lines that were dropped and reports them once a burst: at the end of the chunk that a burst begins in.
 * What it went on with is reported when a frame ends it, or the input.
 */
export class JunkReport {
  readonly #report: (diagnostic: TransportDiagnostic) => void;
  #count = 0;
  #sample = '';
  #inBurst = false;
  #reported = false;

  constructor(report: (diagnostic: TransportDiagnostic) => void) {
    this.#report = report;
  }

  /** Counts a dropped line; the first of those not yet reported is quoted. */
  add(line: string): void {
    if (this.#count === 0) this.#sample = headOf(line, SAMPLE_CHARS);
    this.#count += 1;
    this.#inBurst = true;
  }

  /** A frame was read: the burst is over. */
  sawFrame(): void {
    this.#inBurst = false;
    this.#reported = false;
  }

  /** Reports a burst that has not been reported yet. */
  endOfChunk(): void {
    if (!this.#reported) this.flush();
  }

  /** Reports what was counted since the last report, if anything. */
  flush(): void {
    const count = this.#count;
    if (count === 0) return;
    this.#count = 0;
    this.#reported = this.#inBurst;
    const lines = count === 1 ? 'a line that is no' : `${count} lines that are no`;
    const message = `dropped ${lines} JSON-RPC frame, beginning with ${JSON.stringify(this.#sample)}`;
    this.#report({ kind: 'junk', message, count });
  }
}
